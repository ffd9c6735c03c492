"""Time to live: items that expire, what the stream says of them, and changing the setting."""
import time
from cases import *


class TimeToLive(Wire):
    def until(self, what, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if (got := what()) is not None:
                return got
            time.sleep(0.05)
        self.fail("it did not happen")

    def test_expired_items_go_and_the_stream_says_who(self):
        t = self.table("pk:S", gsi={"byG": "g:S ALL"}, StreamSpecification={
            "StreamEnabled": True, "StreamViewType": "OLD_IMAGE"})
        now = int(time.time())
        self.put(t, pk="before", g="g", ttl=now - 60)
        self.db.update_time_to_live(TableName=t, TimeToLiveSpecification={
            "Enabled": True, "AttributeName": "ttl"})
        self.put(t, pk="gone", g="g", ttl=now - 10)
        for name, ttl in (("later", now + 3600), ("ancient", now - 6 * 365 * 86400),
                          ("text", str(now - 10)), ("zero", 0)):
            self.put(t, pk=name, g="g", ttl=ttl)
        self.put(t, pk="none", g="g")
        stay = {"later", "ancient", "text", "zero", "none"}

        def names(**more):
            return {x["pk"]["S"] for x in self.ok("Scan", TableName=t, **more)["Items"]}
        self.until(lambda: True if names() == stay else None)
        self.assertEqual(names(IndexName="byG"), stay)
        arn = self.ok("DescribeTable", TableName=t)["Table"]["LatestStreamArn"]
        removed = []
        for shard in self.ok("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
            iterator = self.ok("GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"],
                               ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            records = self.ok("GetRecords", ShardIterator=iterator)["Records"]
            removed += [r for r in records if r["eventName"] == "REMOVE"]
        self.assertEqual({r["dynamodb"]["Keys"]["pk"]["S"] for r in removed}, {"before", "gone"})
        for r in removed:
            self.assertEqual(r["userIdentity"], {"PrincipalId": "dynamodb.amazonaws.com",
                                                 "Type": "Service"})
            self.assertIn("OldImage", r["dynamodb"])

    def test_switched_on_and_off(self):
        t = self.table("pk:S")
        self.assertEqual(self.db.describe_time_to_live(TableName=t)["TimeToLiveDescription"],
                         {"TimeToLiveStatus": "DISABLED"})
        on = self.ok("UpdateTimeToLive", TableName=t, TimeToLiveSpecification={
            "Enabled": True, "AttributeName": "e" * 255})
        self.assertEqual(on, {"TimeToLiveSpecification": {"Enabled": True,
                                                          "AttributeName": "e" * 255}})
        self.assertEqual(self.db.describe_time_to_live(TableName=t)["TimeToLiveDescription"],
                         {"TimeToLiveStatus": "ENABLED", "AttributeName": "e" * 255})
        self.ok("UpdateTimeToLive", TableName=t, TimeToLiveSpecification={
            "Enabled": False, "AttributeName": "e" * 255})
        self.put(t, pk="x", **{"e" * 255: int(time.time()) - 10})
        self.assertEqual(self.ok("Scan", TableName=t)["Count"], 1)


if __name__ == "__main__":
    main()
