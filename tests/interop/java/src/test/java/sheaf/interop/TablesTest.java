package sheaf.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sheaf.interop.Aws.create;
import static sheaf.interop.Aws.definitions;
import static sheaf.interop.Aws.item;
import static sheaf.interop.Aws.keys;
import static sheaf.interop.Aws.s;

import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import sheaf.junit5.SheafExtension;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.IndexStatus;
import software.amazon.awssdk.services.dynamodb.model.ListTablesResponse;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;
import software.amazon.awssdk.services.dynamodb.model.Tag;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

class TablesTest {
    @RegisterExtension static SheafExtension sheaf = new SheafExtension();

    static DynamoDbClient ddb;

    @BeforeAll
    static void connect() {
        ddb = Aws.client(sheaf.endpoint());
    }

    static TableDescription describe(String table) {
        return ddb.describeTable(r -> r.tableName(table)).table();
    }

    @Test
    void aTableDescribesItself() {
        String table = create(ddb);
        TableDescription found = describe(table);
        assertEquals(TableStatus.ACTIVE, found.tableStatus());
        assertEquals(keys("pk", "sk"), found.keySchema());
        assertEquals(definitions("pk:S", "sk:S"), found.attributeDefinitions());
        assertEquals(BillingMode.PAY_PER_REQUEST, found.billingModeSummary().billingMode());
        assertTrue(found.tableArn().endsWith(":table/" + table));
        assertEquals(0, found.itemCount());
    }

    @Test
    void theWaiterEndsWhenTheTableIsThere() {
        String table = create(ddb);
        try (var waiter = ddb.waiter()) {
            var ended = waiter.waitUntilTableExists(r -> r.tableName(table));
            assertEquals(TableStatus.ACTIVE,
                    ended.matched().response().orElseThrow().table().tableStatus());
        }
    }

    @Test
    void theWaiterEndsWhenTheTableIsGone() {
        String table = create(ddb);
        ddb.deleteTable(r -> r.tableName(table));
        try (var waiter = ddb.waiter()) {
            var ended = waiter.waitUntilTableNotExists(r -> r.tableName(table));
            assertTrue(
                    ended.matched().exception().orElseThrow() instanceof ResourceNotFoundException);
        }
    }

    @Test
    void indexesAreDescribed() {
        String table = create(ddb,
                request
                -> request.attributeDefinitions(definitions("pk:S", "sk:S", "g:N", "l:B"))
                           .globalSecondaryIndexes(index
                                   -> index.indexName("global").keySchema(keys("g")).projection(p
                                           -> p.projectionType(ProjectionType.INCLUDE)
                                                      .nonKeyAttributes("a")))
                           .localSecondaryIndexes(index
                                   -> index.indexName("local")
                                              .keySchema(keys("pk", "l"))
                                              .projection(p
                                                      -> p.projectionType(
                                                              ProjectionType.KEYS_ONLY))));
        TableDescription found = describe(table);
        var global = found.globalSecondaryIndexes().get(0);
        assertEquals("global", global.indexName());
        assertEquals(IndexStatus.ACTIVE, global.indexStatus());
        assertEquals(List.of("a"), global.projection().nonKeyAttributes());
        assertEquals(keys("pk", "l"), found.localSecondaryIndexes().get(0).keySchema());
    }

    @Test
    void aSecondTableOfThatNameIsRefused() {
        String table = create(ddb);
        assertThrows(ResourceInUseException.class,
                ()
                        -> ddb.createTable(r
                                -> r.tableName(table)
                                           .billingMode(BillingMode.PAY_PER_REQUEST)
                                           .keySchema(keys("pk"))
                                           .attributeDefinitions(definitions("pk:S"))));
    }

    @Test
    void aMissingTableIsNotFound() {
        var failure = assertThrows(ResourceNotFoundException.class, () -> describe("absent"));
        assertEquals(400, failure.statusCode());
        assertEquals("ResourceNotFoundException", failure.awsErrorDetails().errorCode());
        assertFalse(failure.requestId().isEmpty());
    }

    @Test
    void tablesAreListedPageByPage() {
        List<String> made = List.of(create(ddb), create(ddb), create(ddb));
        List<ListTablesResponse> pages = ddb.listTablesPaginator(r -> r.limit(2)).stream().toList();
        assertTrue(pages.size() >= 2);
        List<String> names = pages.stream().flatMap(p -> p.tableNames().stream()).toList();
        assertTrue(names.containsAll(made));
        assertEquals(names.stream().sorted().toList(), names);
    }

    @Test
    void deletionProtectionProtects() {
        String table = create(ddb, request -> request.deletionProtectionEnabled(true));
        var failure = assertThrows(
                DynamoDbException.class, () -> ddb.deleteTable(r -> r.tableName(table)));
        assertEquals("ValidationException", failure.awsErrorDetails().errorCode());
        ddb.updateTable(r -> r.tableName(table).deletionProtectionEnabled(false));
        ddb.deleteTable(r -> r.tableName(table));
    }

    @Test
    void throughputIsChanged() {
        String table = create(ddb);
        ddb.updateTable(r
                -> r.tableName(table)
                           .billingMode(BillingMode.PROVISIONED)
                           .provisionedThroughput(
                                   t -> t.readCapacityUnits(5L).writeCapacityUnits(6L)));
        assertEquals(5, describe(table).provisionedThroughput().readCapacityUnits());
        assertEquals(6, describe(table).provisionedThroughput().writeCapacityUnits());
    }

    @Test
    void anIndexIsAddedAndFilled() {
        String table = create(ddb);
        ddb.putItem(r -> r.tableName(table).item(item("pk", s("a"), "sk", s("b"), "g", s("x"))));
        ddb.updateTable(r
                -> r.tableName(table)
                           .attributeDefinitions(definitions("g:S"))
                           .globalSecondaryIndexUpdates(u
                                   -> u.create(index
                                           -> index.indexName("late")
                                                      .keySchema(keys("g"))
                                                      .projection(p
                                                              -> p.projectionType(
                                                                      ProjectionType.ALL)))));
        for (int i = 0;
                describe(table).globalSecondaryIndexes().get(0).indexStatus() != IndexStatus.ACTIVE;
                i++) {
            assertTrue(i < 100_000, "the index did not become active");
        }
        var found = ddb.query(r
                -> r.tableName(table)
                           .indexName("late")
                           .keyConditionExpression("g = :x")
                           .expressionAttributeValues(item(":x", s("x"))));
        assertEquals(List.of(item("pk", s("a"), "sk", s("b"), "g", s("x"))), found.items());
    }

    @Test
    void tagsAreKept() {
        String table = create(
                ddb, request -> request.tags(Tag.builder().key("team").value("orders").build()));
        String arn = describe(table).tableArn();
        ddb.tagResource(r -> r.resourceArn(arn).tags(t -> t.key("stage").value("test")));
        ddb.untagResource(r -> r.resourceArn(arn).tagKeys("team"));
        assertEquals(List.of(Tag.builder().key("stage").value("test").build()),
                ddb.listTagsOfResource(r -> r.resourceArn(arn)).tags());
    }

    @Test
    void timeToLiveIsSwitchedOn() {
        String table = create(ddb);
        assertEquals(TimeToLiveStatus.DISABLED,
                ddb.describeTimeToLive(r -> r.tableName(table))
                        .timeToLiveDescription()
                        .timeToLiveStatus());
        ddb.updateTimeToLive(r
                -> r.tableName(table).timeToLiveSpecification(
                        t -> t.enabled(true).attributeName("expires")));
        var found = ddb.describeTimeToLive(r -> r.tableName(table)).timeToLiveDescription();
        assertEquals("expires", found.attributeName());
        assertTrue(List.of(TimeToLiveStatus.ENABLED, TimeToLiveStatus.ENABLING)
                           .contains(found.timeToLiveStatus()));
    }

    @Test
    void limitsAndEndpointsAreDescribed() {
        assertTrue(ddb.describeLimits().tableMaxReadCapacityUnits() > 0);
        assertEquals(1, ddb.describeEndpoints().endpoints().size());
    }

    @Test
    void anOperationThatIsNotThereIsUnknown() {
        var failure = assertThrows(DynamoDbException.class, () -> ddb.listBackups());
        assertEquals("UnknownOperationException", failure.awsErrorDetails().errorCode());
    }
}
