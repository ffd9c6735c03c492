/* Knows the names of DynamoDB's operations that are not built, so that whoever calls one is told so
 * and not that there is no such thing. An operation that gets built leaves this list. */
#include "ops/ops.h"

/* clang-format off */
static const char *const unbuilt[] = {
    /* PartiQL and vectors */
    "BatchExecuteStatement", "ExecuteStatement", "ExecuteTransaction", "SearchVectors",
    /* backups, exports and imports */
    "CreateBackup", "DeleteBackup", "DescribeBackup", "DescribeExport",
    "DescribeImport", "ExportTableToPointInTime", "ImportTable", "ListBackups", "ListExports",
    "ListImports", "RestoreTableFromBackup", "RestoreTableToPointInTime", "UpdateContinuousBackups",
    /* global tables */
    "CreateGlobalTable", "DescribeGlobalTable", "DescribeGlobalTableSettings",
    "DescribeTableReplicaAutoScaling", "ListGlobalTables", "UpdateGlobalTable",
    "UpdateGlobalTableSettings", "UpdateTableReplicaAutoScaling",
    /* Kinesis, Contributor Insights, resource policies */
    "DescribeKinesisStreamingDestination", "DisableKinesisStreamingDestination",
    "EnableKinesisStreamingDestination", "UpdateKinesisStreamingDestination",
    "DescribeContributorInsights", "ListContributorInsights", "UpdateContributorInsights",
    "DeleteResourcePolicy", "GetResourcePolicy", "PutResourcePolicy",
};
/* clang-format on */

const char *op_unbuilt(span target)
{
    span data = SPAN_LIT("DynamoDB_20120810.");
    if (!span_starts(target, data)) return NULL;
    span name = span_from(target, data.n);
    for (size_t i = 0; i < sizeof unbuilt / sizeof *unbuilt; i++)
        if (span_eq(span_cstr(unbuilt[i]), name)) return unbuilt[i];
    return NULL;
}
