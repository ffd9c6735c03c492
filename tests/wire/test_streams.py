"""The four operations on streams: views, iterators, pages of records, streams and shards."""
import time
from cases import *

KEYS = {"KEYS_ONLY": (), "NEW_IMAGE": ("NewImage",), "OLD_IMAGE": ("OldImage",),
        "NEW_AND_OLD_IMAGES": ("NewImage", "OldImage")}


class Streams(Wire):
    def stream(self, view="NEW_AND_OLD_IMAGES", hash_="pk:S", range_=None):
        t = self.table(hash_, range_, StreamSpecification={"StreamEnabled": True,
                                                           "StreamViewType": view})
        return t, self.ok("DescribeTable", TableName=t)["Table"]["LatestStreamArn"]

    def shards(self, arn):
        return self.ok("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]

    def iterator(self, arn, shard, kind="TRIM_HORIZON", **more):
        return self.ok("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType=kind,
                       **more)["ShardIterator"]

    def drain(self, iterator, **more):
        got = []
        while True:
            page = self.ok("GetRecords", ShardIterator=iterator, **more)
            if not page["Records"]:
                return got, page.get("NextShardIterator")
            got += page["Records"]
            iterator = page["NextShardIterator"]

    def records(self, arn):
        return [r for s in self.shards(arn)
                for r in self.drain(self.iterator(arn, s["ShardId"]))[0]]

    def test_every_view_of_every_event(self):
        for view, images in KEYS.items():
            t, arn = self.stream(view)
            self.put(t, pk="x", v=1)
            self.put(t, pk="x", v=2)
            self.put(t, pk="x", v=2)  # changes nothing and is not told
            self.ok("DeleteItem", TableName=t, Key=item(pk="x"))
            self.ok("DeleteItem", TableName=t, Key=item(pk="x"))
            got = self.records(arn)
            self.assertEqual([r["eventName"] for r in got], ["INSERT", "MODIFY", "REMOVE"])
            for r, old, new in zip(got, (None, 1, 2), (1, 2, None)):
                change = r["dynamodb"]
                self.assertEqual(change["Keys"], item(pk="x"))
                self.assertEqual(change["StreamViewType"], view)
                self.assertEqual((r["eventSource"], r["eventVersion"], r["awsRegion"]),
                                 ("aws:dynamodb", "1.1", "us-east-1"))
                self.assertRegex(change["SequenceNumber"], r"^\d{21,40}$")
                self.assertNotIn("userIdentity", r)
                self.assertGreater(change["SizeBytes"], 0)
                for name, number in (("OldImage", old), ("NewImage", new)):
                    want = item(pk="x", v=number) if name in images and number else None
                    self.assertEqual(change.get(name), want, (view, r["eventName"], name))
            self.assertEqual(len({r["eventID"] for r in got}), 3)

    def test_records_are_pages_of_every_size_in_order(self):
        t, arn = self.stream(hash_="pk:S", range_="sk:N")
        for i in range(20):
            self.put(t, pk="one", sk=i)
        whole = self.records(arn)
        self.assertEqual([int(r["dynamodb"]["Keys"]["sk"]["N"]) for r in whole], list(range(20)))
        numbers = [int(r["dynamodb"]["SequenceNumber"]) for r in whole]
        self.assertEqual(numbers, sorted(numbers))
        shard = next(s["ShardId"] for s in self.shards(arn)
                     if self.drain(self.iterator(arn, s["ShardId"]))[0])
        for limit in (1, 2, 3, 7, 19, 20, 21, 1000):
            got, _ = self.drain(self.iterator(arn, shard), Limit=limit)
            self.assertEqual(got, whole, limit)

    def test_every_iterator(self):
        t, arn = self.stream(hash_="pk:S", range_="sk:N")
        for i in range(5):
            self.put(t, pk="one", sk=i)
        whole = self.records(arn)
        shard = next(s["ShardId"] for s in self.shards(arn)
                     if self.drain(self.iterator(arn, s["ShardId"]))[0])
        third = whole[2]["dynamodb"]["SequenceNumber"]
        at, _ = self.drain(self.iterator(arn, shard, "AT_SEQUENCE_NUMBER", SequenceNumber=third))
        after, _ = self.drain(self.iterator(arn, shard, "AFTER_SEQUENCE_NUMBER",
                                            SequenceNumber=third))
        self.assertEqual((at, after), (whole[2:], whole[3:]))
        latest = self.iterator(arn, shard, "LATEST")
        none, following = self.drain(latest)
        self.assertEqual(none, [])
        self.put(t, pk="one", sk=9)
        for iterator in (latest, following):
            got, _ = self.drain(iterator)
            self.assertEqual([r["dynamodb"]["Keys"] for r in got], [item(pk="one", sk=9)])

    def test_a_stream_is_described(self):
        t, arn = self.stream("NEW_IMAGE", "pk:S", "sk:N")
        got = self.streams.describe_stream(StreamArn=arn)["StreamDescription"]
        self.assertEqual((got["StreamArn"], got["TableName"], got["StreamStatus"],
                          got["StreamViewType"]), (arn, t, "ENABLED", "NEW_IMAGE"))
        self.assertEqual(got["StreamLabel"], arn.rsplit("/", 1)[1])
        self.assertRegex(got["StreamLabel"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$")
        self.assertEqual(got["KeySchema"], schema("pk:S|sk:N")[0])
        self.assertAlmostEqual(got["CreationRequestDateTime"].timestamp(), time.time(), delta=60)
        for shard in got["Shards"]:
            self.assertTrue(28 <= len(shard["ShardId"]) <= 65)
            self.assertNotIn("ParentShardId", shard)
            self.assertTrue(shard["SequenceNumberRange"]["StartingSequenceNumber"].isdecimal())
            self.assertNotIn("EndingSequenceNumber", shard["SequenceNumberRange"])

    def test_shards_by_pages_of_every_size(self):
        _, arn = self.stream()
        whole = [s["ShardId"] for s in self.shards(arn)]
        self.assertEqual(whole, sorted(whole))
        for limit in range(1, len(whole) + 2):
            got, start = [], {}
            while True:
                page = self.ok("DescribeStream", StreamArn=arn, Limit=limit,
                               **start)["StreamDescription"]
                self.assertLessEqual(len(page["Shards"]), limit)
                got += [s["ShardId"] for s in page["Shards"]]
                if "LastEvaluatedShardId" not in page:
                    break
                start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}
            self.assertEqual(got, whole, limit)
        rest = self.ok("DescribeStream", StreamArn=arn, ExclusiveStartShardId=whole[-1])
        self.assertEqual(rest["StreamDescription"]["Shards"], [])
        children = self.ok("DescribeStream", StreamArn=arn, ShardFilter={
            "Type": "CHILD_SHARDS", "ShardId": whole[0]})["StreamDescription"]
        self.assertEqual(children["Shards"], [])

    def test_streams_by_pages_of_every_size(self):
        made = {self.stream()[1] for _ in range(5)}

        def pages(limit, **request):
            got, start = [], {}
            while True:
                page = self.ok("ListStreams", Limit=limit, **request, **start)
                got += [s["StreamArn"] for s in page["Streams"]]
                if "LastEvaluatedStreamArn" not in page:
                    return got
                start = {"ExclusiveStartStreamArn": page["LastEvaluatedStreamArn"]}
        whole = pages(100)
        self.assertEqual(len(whole), len(set(whole)))
        self.assertLessEqual(made, set(whole))
        for limit in (1, 2, 3, 4, 5, 50):
            self.assertEqual(pages(limit), whole, limit)

    def test_a_stream_that_is_off_stays_and_a_new_one_comes(self):
        t, first = self.stream()
        self.put(t, pk="x")
        self.ok("UpdateTable", TableName=t, StreamSpecification={"StreamEnabled": False})
        self.put(t, pk="y")
        told = self.ok("DescribeStream", StreamArn=first)["StreamDescription"]
        self.assertEqual(told["StreamStatus"], "DISABLED")
        self.assertTrue(all("EndingSequenceNumber" in s["SequenceNumberRange"]
                            for s in told["Shards"]))
        self.assertEqual([r["dynamodb"]["Keys"] for r in self.all_of(first)], [item(pk="x")])
        self.ok("UpdateTable", TableName=t, StreamSpecification={
            "StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        self.put(t, pk="z")
        listed = [s["StreamArn"] for s in self.ok("ListStreams", TableName=t)["Streams"]]
        self.assertEqual(len(listed), 2)
        second = next(a for a in listed if a != first)
        self.assertEqual([r["dynamodb"]["Keys"] for r in self.records(second)], [item(pk="z")])

    def all_of(self, arn):
        """Of closed shards, whose iterators end."""
        got = []
        for shard in self.shards(arn):
            iterator = self.iterator(arn, shard["ShardId"])
            while iterator:
                page = self.ok("GetRecords", ShardIterator=iterator)
                got += page["Records"]
                iterator = page.get("NextShardIterator")
        return got

    def test_boto3_reads_a_stream(self):
        t, arn = self.stream()
        self.db.put_item(TableName=t, Item={"pk": {"S": "x"}, "b": {"B": b"\x00"}})
        found = []
        for shard in self.streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
            iterator = self.streams.get_shard_iterator(
                StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
            found += self.streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
        [record] = found
        self.assertEqual(record["dynamodb"]["NewImage"]["b"]["B"], b"\x00")
        self.assertAlmostEqual(record["dynamodb"]["ApproximateCreationDateTime"].timestamp(),
                               time.time(), delta=60)

    def test_a_thousand_records_and_a_megabyte_are_a_page(self):
        t, arn = self.stream("NEW_IMAGE", "pk:S", "sk:N")
        self.fill(t, [item(pk="one", sk=i) for i in range(1025)])
        iterators = [self.iterator(arn, s["ShardId"]) for s in self.shards(arn)]
        sizes = sorted(len(self.ok("GetRecords", ShardIterator=i)["Records"]) for i in iterators)
        self.assertEqual(sizes[-1], 1000)
        for i in range(4):
            self.put(t, pk="one", sk=5000 + i, v="x" * 300_000)
        whole = [r for r in self.records(arn)]
        self.assertEqual(len(whole), 1029)

    def test_refusals(self):
        t, arn = self.stream()
        shard = self.shards(arn)[0]["ShardId"]
        number = self.shards(arn)[0]["SequenceNumberRange"]["StartingSequenceNumber"]
        base = {"StreamArn": arn, "ShardId": shard}
        gone = ARN + "never-made/stream/2026-01-01T00:00:00.000"
        types = "AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON"
        not_found = f"Requested resource not found: Stream: {gone} not found"
        self.rows([
            ("DescribeStream", {"StreamArn": "x" * 40}, VALIDATION, "Invalid StreamArn", GUIDE),
            ("DescribeStream", {"StreamArn": "short"}, VALIDATION,
             errors(at("short", "streamArn", short(37))), QUIRKS),
            ("DescribeStream", {}, VALIDATION, errors(missing("streamArn")), MODEL),
            ("DescribeStream", {"StreamArn": arn, "Limit": 0}, VALIDATION,
             errors(at("0", "limit", low(1))), MODEL),
            ("DescribeStream", {"StreamArn": arn, "Limit": 101}, VALIDATION,
             errors(at("101", "limit", high(100))), MODEL),
            ("DescribeStream", {"StreamArn": gone}, NOT_FOUND, not_found, UNVERIFIED),
            ("ListStreams", {"Limit": 0}, VALIDATION, errors(at("0", "limit", low(1))), ALTERNATOR),
            ("ListStreams", {"Limit": 101}, VALIDATION, errors(at("101", "limit", high(100))),
             ALTERNATOR),
            ("ListStreams", {"ExclusiveStartStreamArn": "k" * 48}, VALIDATION, "Invalid StreamArn",
             UNVERIFIED),
            ("GetShardIterator", {**base, "ShardIteratorType": "NOW"}, VALIDATION,
             errors(at("NOW", "shardIteratorType", enum(types))), UNVERIFIED),
            ("GetShardIterator", {**base, "ShardIteratorType": "LATEST",
                                  "ShardId": "shardId-00000000000000000000-never"}, NOT_FOUND,
             "Requested resource not found: Shard does not exist", UNVERIFIED),
            ("GetShardIterator", {**base, "ShardIteratorType": "AT_SEQUENCE_NUMBER"}, VALIDATION,
             "SequenceNumber must be provided for ShardIteratorType AT_SEQUENCE_NUMBER",
             UNVERIFIED),
            ("GetShardIterator", {**base, "ShardIteratorType": "LATEST",
                                  "SequenceNumber": number}, VALIDATION,
             "SequenceNumber cannot be provided for ShardIteratorType LATEST", UNVERIFIED),
            ("GetRecords", {"ShardIterator": "made up"}, VALIDATION, "Invalid ShardIterator",
             UNVERIFIED),
            ("GetRecords", {"ShardIterator": ""}, VALIDATION,
             errors(at("", "shardIterator", short(1))), MODEL),
            ("GetRecords", {"ShardIterator": "x", "Limit": 1001}, VALIDATION,
             errors(at("1001", "limit", high(1000))), MODEL),
            ("GetRecords", {"ShardIterator": "x", "Limit": 0}, VALIDATION,
             errors(at("0", "limit", low(1))), MODEL),
        ])
        for cut in range(0, len(iterator := self.iterator(arn, shard)), 7):
            forged = iterator[:cut] + ("0" if iterator[cut] != "0" else "1") + iterator[cut + 1:]
            self.assertEqual(self.ask("GetRecords", {"ShardIterator": forged}).status, 400, forged)


if __name__ == "__main__":
    main()
