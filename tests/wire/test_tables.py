"""The operations on tables, tags and the account with boto3: every parameter, every field told."""
import time
from cases import *


class Tables(Wire):
    def test_a_table_is_told_as_it_was_made(self):
        name, before = random_name(), time.time()
        made = self.ok(
            "CreateTable", TableName=name, BillingMode="PROVISIONED",
            KeySchema=schema("pk:S|sk:N")[0],
            AttributeDefinitions=schema("pk:S|sk:N")[1] + schema("g:B|l:S")[1],
            ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 3},
            LocalSecondaryIndexes=[index("byL", "pk:S|l:S KEYS_ONLY")[0]],
            GlobalSecondaryIndexes=[{
                **index("byG", "g:B|sk:N INCLUDE a,b")[0],
                "ProvisionedThroughput": {"ReadCapacityUnits": 2, "WriteCapacityUnits": 1}}],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"},
            Tags=[{"Key": "team", "Value": "blue"}], TableClass="STANDARD_INFREQUENT_ACCESS",
            DeletionProtectionEnabled=True)["TableDescription"]
        self.assertEqual(made["TableStatus"], "CREATING")
        told = self.db.describe_table(TableName=name)["Table"]
        self.assertEqual(told["TableStatus"], "ACTIVE")
        self.assertEqual(told["TableName"], name)
        self.assertEqual(told["TableArn"], ARN + name)
        self.assertRegex(told["TableId"], r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}$")
        self.assertEqual(told["TableId"], made["TableId"])
        self.assertAlmostEqual(told["CreationDateTime"].timestamp(), before, delta=30)
        self.assertEqual(told["KeySchema"], schema("pk:S|sk:N")[0])
        self.assertEqual({d["AttributeName"]: d["AttributeType"]
                          for d in told["AttributeDefinitions"]},
                         {"pk": "S", "sk": "N", "g": "B", "l": "S"})
        self.assertEqual((told["ItemCount"], told["TableSizeBytes"]), (0, 0))
        units = told["ProvisionedThroughput"]
        self.assertEqual((units["ReadCapacityUnits"], units["WriteCapacityUnits"],
                          units["NumberOfDecreasesToday"]), (7, 3, 0))
        [local] = told["LocalSecondaryIndexes"]
        self.assertEqual(local["IndexArn"], f"{ARN}{name}/index/byL")
        self.assertEqual(local["Projection"], {"ProjectionType": "KEYS_ONLY"})
        [glob] = told["GlobalSecondaryIndexes"]
        self.assertEqual((glob["IndexName"], glob["IndexStatus"], glob["ItemCount"],
                          glob["IndexSizeBytes"]), ("byG", "ACTIVE", 0, 0))
        self.assertEqual(glob["KeySchema"], schema("g:B|sk:N")[0])
        self.assertEqual(glob["Projection"]["ProjectionType"], "INCLUDE")
        self.assertEqual(sorted(glob["Projection"]["NonKeyAttributes"]), ["a", "b"])
        self.assertEqual(glob["ProvisionedThroughput"]["ReadCapacityUnits"], 2)
        self.assertEqual(told["StreamSpecification"],
                         {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        self.assertEqual(told["LatestStreamArn"],
                         f"{ARN}{name}/stream/{told['LatestStreamLabel']}")
        self.assertEqual(told["SSEDescription"]["Status"], "ENABLED")
        self.assertEqual(told["SSEDescription"]["SSEType"], "KMS")
        self.assertEqual(told["TableClassSummary"]["TableClass"], "STANDARD_INFREQUENT_ACCESS")
        self.assertIs(self.ok("DescribeTable", TableName=name)["Table"]
                      ["DeletionProtectionEnabled"], True)
        self.assertEqual(self.db.list_tags_of_resource(ResourceArn=told["TableArn"])["Tags"],
                         [{"Key": "team", "Value": "blue"}])

    def test_an_on_demand_table(self):
        t = self.table("pk:S", OnDemandThroughput={"MaxReadRequestUnits": 10,
                                                   "MaxWriteRequestUnits": 5})
        told = self.ok("DescribeTable", TableName=t)["Table"]
        self.assertEqual(told["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
        self.assertEqual(told["ProvisionedThroughput"]["ReadCapacityUnits"], 0)
        self.assertEqual(told["OnDemandThroughput"],
                         {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5})
        self.assertNotIn("SSEDescription", told)
        self.assertIs(told["DeletionProtectionEnabled"], False)
        self.assertEqual(told["WarmThroughput"]["ReadUnitsPerSecond"], 12000)
        self.assertEqual(told["WarmThroughput"]["WriteUnitsPerSecond"], 4000)

    def test_resource_api_makes_waits_and_deletes(self):
        import boto3
        db = boto3.resource("dynamodb", endpoint_url=self.server.url, region_name="us-east-1",
                            aws_access_key_id="k", aws_secret_access_key="s")
        table = db.create_table(TableName=random_name(), BillingMode="PAY_PER_REQUEST",
                                KeySchema=schema("pk:S")[0],
                                AttributeDefinitions=schema("pk:S")[1])
        table.wait_until_exists()
        self.assertEqual(table.table_status, "CREATING")  # as the first answer said
        table.reload()
        self.assertEqual((table.table_status, table.item_count), ("ACTIVE", 0))
        self.assertIn(table.name, [t.name for t in db.tables.all()])
        self.assertEqual(table.delete()["TableDescription"]["TableStatus"], "DELETING")
        table.wait_until_not_exists()
        self.raises(NOT_FOUND, f"Requested resource not found: Table: {table.name} not found",
                    table.load)
        db.meta.client.close()

    def test_counts_are_exact(self):
        t = self.table("pk:S", gsi={"byG": "g:S KEYS_ONLY"})
        for i in range(7):
            self.put(t, pk=f"p{i}", **({"g": "x"} if i < 3 else {}))
        told = self.ok("DescribeTable", TableName=t)["Table"]
        self.assertEqual(told["ItemCount"], 7)
        self.assertEqual(told["TableSizeBytes"], 7 * 4 + 3 * 2)
        self.assertEqual(told["GlobalSecondaryIndexes"][0]["ItemCount"], 3)

    def test_every_update(self):
        t = self.table("pk:S", ProvisionedThroughput={"ReadCapacityUnits": 5,
                                                      "WriteCapacityUnits": 5})

        def update(**change):
            answer = self.ok("UpdateTable", TableName=t, **change)["TableDescription"]
            self.assertIn(answer["TableStatus"], ("UPDATING", "ACTIVE"))
            return self.ok("DescribeTable", TableName=t)["Table"]

        units = update(ProvisionedThroughput={"ReadCapacityUnits": 10, "WriteCapacityUnits": 4})
        told = units["ProvisionedThroughput"]
        self.assertEqual((told["ReadCapacityUnits"], told["WriteCapacityUnits"],
                          told["NumberOfDecreasesToday"]), (10, 4, 1))
        self.assertIn("LastIncreaseDateTime", told)
        self.assertIn("LastDecreaseDateTime", told)
        self.assertEqual(update(TableClass="STANDARD_INFREQUENT_ACCESS")["TableClassSummary"]
                         ["TableClass"], "STANDARD_INFREQUENT_ACCESS")
        self.assertIs(update(DeletionProtectionEnabled=True)["DeletionProtectionEnabled"], True)
        self.refused("DeleteTable", {"TableName": t}, VALIDATION,
                     "Resource cannot be deleted as it is currently protected against deletion. "
                     "Disable deletion protection first.")
        self.assertIs(update(DeletionProtectionEnabled=False)["DeletionProtectionEnabled"], False)
        on = update(StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        self.assertEqual(on["StreamSpecification"]["StreamViewType"], "KEYS_ONLY")
        off = update(StreamSpecification={"StreamEnabled": False})
        self.assertNotIn("StreamSpecification", off)
        self.assertEqual(off["LatestStreamArn"], on["LatestStreamArn"])
        self.assertEqual(update(SSESpecification={"Enabled": True})["SSEDescription"]["Status"],
                         "ENABLED")
        self.assertNotIn("SSEDescription", update(SSESpecification={"Enabled": False}))
        demand = update(BillingMode="PAY_PER_REQUEST")
        self.assertEqual(demand["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
        self.assertIn("LastUpdateToPayPerRequestDateTime", demand["BillingModeSummary"])
        self.assertEqual(update(OnDemandThroughput={"MaxReadRequestUnits": 20})
                         ["OnDemandThroughput"]["MaxReadRequestUnits"], 20)
        self.assertEqual(update(WarmThroughput={"ReadUnitsPerSecond": 13000})["WarmThroughput"]
                         ["ReadUnitsPerSecond"], 13000)

    def test_names_may_be_arns(self):
        t = self.table("pk:S")
        arn = ARN + t
        self.assertEqual(self.db.describe_table(TableName=arn)["Table"]["TableName"], t)
        self.db.put_item(TableName=arn, Item={"pk": {"S": "x"}})
        self.assertEqual(self.db.scan(TableName=arn)["Count"], 1)
        self.db.batch_write_item(RequestItems={arn: [
            {"DeleteRequest": {"Key": {"pk": {"S": "x"}}}}]})
        self.assertEqual(self.db.scan(TableName=t)["Count"], 0)
        self.db.update_time_to_live(TableName=arn, TimeToLiveSpecification={
            "Enabled": True, "AttributeName": "x"})
        self.db.update_table(TableName=arn, StreamSpecification={
            "StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        self.db.delete_table(TableName=arn)
        self.raises(NOT_FOUND, f"Requested resource not found: Table: {t} not found",
                    self.db.describe_table, TableName=arn)

    def test_names_are_case_sensitive_and_free_at_once(self):
        t = self.table("pk:S")
        self.put(t, pk="x")
        self.table("pk:N", name=t.upper())
        self.refused("CreateTable", table_request(t), "ResourceInUseException",
                     f"Table already exists: {t}")
        first = self.ok("DescribeTable", TableName=t)["Table"]["TableId"]
        self.ok("DeleteTable", TableName=t)
        self.table("pk:S", name=t)
        again = self.ok("DescribeTable", TableName=t)["Table"]
        self.assertNotEqual(again["TableId"], first)
        self.assertEqual(self.ok("Scan", TableName=t)["Count"], 0)


class Lists(Wire):
    def delete_all(self):
        while names := self.ok("ListTables")["TableNames"]:
            for name in names:
                self.ok("DeleteTable", TableName=name)

    def test_list_tables_by_pages_of_every_size(self):
        self.delete_all()
        names = sorted(["aaa", "aab", "B-upper", "a.b", "a_b", "zzz", "Z9", "m-1", "m-10", "m-2"])
        for name in names:
            self.table("pk:S", name=name if len(name) > 2 else name + "x")
        names = sorted(n if len(n) > 2 else n + "x" for n in names)
        self.assertEqual(self.ok("ListTables"), {"TableNames": names})
        for limit in range(1, len(names) + 2):
            got, start = [], {}
            while True:
                page = self.ok("ListTables", Limit=limit, **start)
                self.assertLessEqual(len(page["TableNames"]), limit)
                got += page["TableNames"]
                if "LastEvaluatedTableName" not in page:
                    break
                self.assertEqual(page["LastEvaluatedTableName"], got[-1])
                start = {"ExclusiveStartTableName": got[-1]}
            self.assertEqual(got, names, f"pages of {limit}")
        pages = self.db.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 3})
        self.assertEqual([n for p in pages for n in p["TableNames"]], names)
        self.assertEqual(self.ok("ListTables", ExclusiveStartTableName="never-made")["TableNames"],
                         [n for n in names if n > "never-made"])

    def test_a_hundred_names_are_a_page(self):
        self.delete_all()
        for i in range(101):
            self.table("pk:S", name=f"page-{i:03}")
        page = self.ok("ListTables", ExclusiveStartTableName="page-")
        self.assertEqual(len(page["TableNames"]), 100)
        rest = self.ok("ListTables", ExclusiveStartTableName=page["LastEvaluatedTableName"])
        self.assertIn("page-100", rest["TableNames"])


class Tags(Wire):
    def tags(self, arn):
        """All of them, by pages."""
        got, token = {}, {}
        while True:
            page = self.ok("ListTagsOfResource", ResourceArn=arn, **token)
            got.update((t["Key"], t["Value"]) for t in page["Tags"])
            if "NextToken" not in page:
                return got
            token = {"NextToken": page["NextToken"]}

    def test_added_replaced_removed(self):
        arn = ARN + self.table("pk:S")
        self.db.tag_resource(ResourceArn=arn, Tags=[{"Key": "Env", "Value": ""},
                                                    {"Key": "env", "Value": "a b+c-d=e.f_g:h/i@j"},
                                                    {"Key": "ключ", "Value": "表"}])
        self.assertEqual(self.tags(arn), {"Env": "", "env": "a b+c-d=e.f_g:h/i@j", "ключ": "表"})
        self.db.tag_resource(ResourceArn=arn, Tags=[{"Key": "Env", "Value": "2"}])
        self.db.untag_resource(ResourceArn=arn, TagKeys=["env", "never"])
        self.assertEqual(self.tags(arn), {"Env": "2", "ключ": "表"})

    def test_fifty_and_no_more(self):
        arn = ARN + self.table("pk:S")
        fifty = {f"k{i:02}": "v" * 256 for i in range(50)}
        self.ok("TagResource", ResourceArn=arn,
                Tags=[{"Key": k, "Value": v} for k, v in fifty.items()])
        self.assertEqual(self.tags(arn), fifty)
        pages = list(self.db.get_paginator("list_tags_of_resource").paginate(ResourceArn=arn))
        self.assertGreater(len(pages), 1)
        self.assertEqual(sum(len(p["Tags"]) for p in pages), 50)
        self.refused("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "k50", "Value": ""}]},
                     VALIDATION,
                     "Number of Tags exceed the current limit for the provided ResourceArn")
        self.ok("TagResource", ResourceArn=arn, Tags=[{"Key": "k00", "Value": "same key"}])
        self.refused("CreateTable", table_request(
            "too-many", Tags=[{"Key": f"k{i}", "Value": ""} for i in range(51)]), VALIDATION,
            "Number of Tags exceed the current limit for the provided ResourceArn")
        self.refused("DescribeTable", {"TableName": "too-many"}, NOT_FOUND,
                     "Requested resource not found: Table: too-many not found")

    def test_refusals(self):
        arn = ARN + self.table("pk:S")
        key, val = "The Tag Key provided is invalid, Key: ", \
            "The Tag Value provided is invalid, Value: "

        def tag(key_, value_=""):
            return {"ResourceArn": arn, "Tags": [{"Key": key_, "Value": value_}]}
        self.ok("TagResource", **tag("k" * 128, "v" * 256))
        bad = ["100%", "a,b", "it's", "(x)", "a&b", "a*b", "a;b", "a?b", "a|b", "a\\b", "<a>", "~a",
               "#", "\U0001f511"]
        self.rows(
            [("TagResource", tag("k" * 129), VALIDATION, key + "k" * 129, QUIRKS),
             ("TagResource", tag("k", "v" * 257), VALIDATION, val + "v" * 257, QUIRKS),
             ("TagResource", tag(""), VALIDATION, key, QUIRKS),
             ("TagResource", {"ResourceArn": arn, "Tags": [{}]}, VALIDATION, key + "null", QUIRKS),
             ("TagResource", {"ResourceArn": arn, "Tags": [{"Value": "x"}]}, VALIDATION,
              key + "null", QUIRKS),
             ("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "x"}]}, VALIDATION,
              val + "null", QUIRKS),
             ("TagResource", {"ResourceArn": arn, "Tags": []}, VALIDATION,
              "Atleast one Tag needs to be provided as Input.", QUIRKS),
             ("TagResource", tag("aws:x"), VALIDATION,
              "Tag Key cannot be prefixed with aws:, Key: aws:x", QUIRKS),
             ("TagResource", tag("AWS:foo"), VALIDATION,
              "Tag Key cannot be prefixed with aws:, Key: AWS:foo", QUIRKS),
             ("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "dup", "Value": "1"},
                                                           {"Key": "dup", "Value": "2"}]},
              VALIDATION, "Duplicate Tag Keys provided as input: Duplicate Tag Key found dup",
              QUIRKS),
             ("UntagResource", {"ResourceArn": arn, "TagKeys": []}, VALIDATION,
              "Atleast one Tag Key needs to be provided as Input.", QUIRKS),
             ("UntagResource", {"ResourceArn": arn, "TagKeys": [""]}, VALIDATION, key, QUIRKS),
             ("UntagResource", {"ResourceArn": arn, "TagKeys": ["aws:x"]}, VALIDATION,
              "Tag Key cannot be prefixed with aws:, Key: aws:x", QUIRKS),
             ("UntagResource", {"ResourceArn": arn, "TagKeys": [f"k{i}" for i in range(51)]},
              VALIDATION, "Number of Tags exceed the current limit for the provided ResourceArn",
              QUIRKS)]
            + [("TagResource", tag(b, "x"), VALIDATION, key + b, QUIRKS) for b in bad]
            + [("TagResource", tag("x", b), VALIDATION, val + b, QUIRKS) for b in bad])

    def test_resources_that_are_none(self):
        gone = ARN + "never-made"
        for operation, more in (("ListTagsOfResource", {}), ("UntagResource", {"TagKeys": ["x"]}),
                                ("TagResource", {"Tags": [{"Key": "x", "Value": ""}]})):
            self.rows([
                (operation, more, VALIDATION, "Invalid TableArn", DYNALITE),
                (operation, {"ResourceArn": "not-an-arn", **more}, VALIDATION,
                 INVALID + "ARNs must start with 'arn:': not-an-arn", QUIRKS),
                (operation, {"ResourceArn": "", **more}, VALIDATION,
                 INVALID + "ARNs must start with 'arn:': ", UNVERIFIED),
                (operation, {"ResourceArn": "arn:aws:s3:::bucket", **more}, VALIDATION,
                 INVALID + "Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::bucket",
                 QUIRKS),
                (operation, {"ResourceArn": gone + "/index/byG", **more}, VALIDATION,
                 INVALID + "Invalid resource arn provided, only table or stream is accepted. "
                 f"Provided resource arn: {gone}/index/byG", QUIRKS),
                (operation, {"ResourceArn": gone, **more}, NOT_FOUND,
                 f"Requested resource not found: ResourceArn: {gone} not found", QUIRKS),
            ])


class Account(Wire):
    def test_limits(self):
        got = self.db.describe_limits()
        self.assertEqual([got[k] for k in ("AccountMaxReadCapacityUnits",
                                           "AccountMaxWriteCapacityUnits",
                                           "TableMaxReadCapacityUnits",
                                           "TableMaxWriteCapacityUnits")],
                         [80000, 80000, 40000, 40000])

    def test_endpoints_name_the_host_that_was_asked(self):
        [endpoint] = self.db.describe_endpoints()["Endpoints"]
        self.assertEqual(endpoint, {"Address": f"127.0.0.1:{self.server.port}",
                                    "CachePeriodInMinutes": 1440})
        for host, told in (("db.example.com", "db.example.com"), ("[::1]:8000", "[::1]:8000"),
                           ("a" * 255, "a" * 255),
                           ("a" * 256, "dynamodb.us-east-1.amazonaws.com")):
            answer = self.server.post("DescribeEndpoints", {}, {"Host": host})
            self.assertEqual(answer.status, 200, host)
            self.assertEqual(answer.json["Endpoints"][0]["Address"], told)

    def test_continuous_backups_are_off_and_say_so(self):
        t = self.table("pk:S")
        got = self.db.describe_continuous_backups(TableName=t)["ContinuousBackupsDescription"]
        self.assertEqual(got["ContinuousBackupsStatus"], "DISABLED")
        self.assertEqual(got["PointInTimeRecoveryDescription"],
                         {"PointInTimeRecoveryStatus": "DISABLED"})
        self.raises("TableNotFoundException", "Table not found: never-made",
                    self.db.describe_continuous_backups, TableName="never-made")


if __name__ == "__main__":
    main()
