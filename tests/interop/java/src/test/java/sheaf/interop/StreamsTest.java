package sheaf.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sheaf.interop.Aws.create;
import static sheaf.interop.Aws.item;
import static sheaf.interop.Aws.n;
import static sheaf.interop.Aws.s;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import sheaf.junit5.SheafExtension;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.OperationType;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.Shard;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamStatus;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

class StreamsTest {
    @RegisterExtension static SheafExtension sheaf = new SheafExtension();

    static DynamoDbClient ddb;
    static DynamoDbStreamsClient streams;

    @BeforeAll
    static void connect() {
        ddb = Aws.client(sheaf.endpoint());
        streams = Aws.at(sheaf.endpoint(), DynamoDbStreamsClient.builder()).build();
    }

    static String createStreaming(StreamViewType view) {
        return create(ddb,
                request
                -> request.streamSpecification(
                        stream -> stream.streamEnabled(true).streamViewType(view)));
    }

    static String arn(String table) {
        return ddb.describeTable(r -> r.tableName(table)).table().latestStreamArn();
    }

    static List<Record> records(String arn) {
        List<Record> found = new ArrayList<>();
        for (Shard shard :
                streams.describeStream(r -> r.streamArn(arn)).streamDescription().shards()) {
            String iterator =
                    streams.getShardIterator(r
                                   -> r.streamArn(arn)
                                              .shardId(shard.shardId())
                                              .shardIteratorType(ShardIteratorType.TRIM_HORIZON))
                            .shardIterator();
            found.addAll(readAll(iterator));
        }
        return found;
    }

    static List<Record> readAll(String first) {
        List<Record> found = new ArrayList<>();
        String iterator = first;
        while (iterator != null) {
            String here = iterator;
            var page = streams.getRecords(r -> r.shardIterator(here));
            found.addAll(page.records());
            iterator = page.records().isEmpty() ? null : page.nextShardIterator();
        }
        return found;
    }

    static void insertModifyRemove(String table) {
        var key = item("pk", s("p"), "sk", s("s"));
        var first = item("pk", s("p"), "sk", s("s"), "n", n(1));
        ddb.putItem(r -> r.tableName(table).item(first));
        ddb.updateItem(r
                -> r.tableName(table)
                           .key(key)
                           .updateExpression("SET n = :two")
                           .expressionAttributeValues(item(":two", n(2))));
        ddb.deleteItem(r -> r.tableName(table).key(key));
    }

    @Test
    void changesAreRecordedInOrder() {
        String table = createStreaming(StreamViewType.NEW_AND_OLD_IMAGES);
        insertModifyRemove(table);
        List<Record> found = records(arn(table));
        assertEquals(List.of(OperationType.INSERT, OperationType.MODIFY, OperationType.REMOVE),
                found.stream().map(Record::eventName).toList());
        assertEquals("1", found.get(1).dynamodb().oldImage().get("n").n());
        assertEquals("2", found.get(1).dynamodb().newImage().get("n").n());
        assertTrue(found.get(0).dynamodb().oldImage().isEmpty());
        assertTrue(found.get(2).dynamodb().newImage().isEmpty());
    }

    @Test
    void keysOnlyHasNoImages() {
        String table = createStreaming(StreamViewType.KEYS_ONLY);
        insertModifyRemove(table);
        for (Record record : records(arn(table))) {
            assertEquals(item("pk", s("p"), "sk", s("s")), record.dynamodb().keys());
            assertTrue(!record.dynamodb().hasNewImage() && !record.dynamodb().hasOldImage());
        }
    }

    @Test
    void aStreamDescribesItself() {
        String table = createStreaming(StreamViewType.NEW_IMAGE);
        var found = streams.describeStream(r -> r.streamArn(arn(table))).streamDescription();
        assertEquals(StreamStatus.ENABLED, found.streamStatus());
        assertEquals(StreamViewType.NEW_IMAGE, found.streamViewType());
        assertEquals(table, found.tableName());
        assertEquals(arn(table),
                streams.listStreams(r -> r.tableName(table)).streams().get(0).streamArn());
    }

    @Test
    void aMissingStreamIsNotFound() {
        String arn =
                arn(createStreaming(StreamViewType.NEW_IMAGE)).replace(":table/", ":table/absent-");
        assertThrows(ResourceNotFoundException.class,
                () -> streams.describeStream(r -> r.streamArn(arn)));
    }

    @Test
    void expiredItemsAreRemovedByTheService() throws InterruptedException {
        String table = createStreaming(StreamViewType.OLD_IMAGE);
        ddb.updateTimeToLive(r
                -> r.tableName(table).timeToLiveSpecification(
                        t -> t.enabled(true).attributeName("expires")));
        long past = Instant.now().getEpochSecond() - 60;
        ddb.putItem(
                r -> r.tableName(table).item(item("pk", s("p"), "sk", s("s"), "expires", n(past))));
        Instant deadline = Instant.now().plus(Duration.ofSeconds(60));
        while (ddb.scan(r -> r.tableName(table)).count() > 0) {
            assertTrue(Instant.now().isBefore(deadline), "the expired item is still there");
            Thread.sleep(50);
        }
        List<Record> found = records(arn(table));
        Record last = found.get(found.size() - 1);
        assertEquals(OperationType.REMOVE, last.eventName());
        assertEquals("dynamodb.amazonaws.com", last.userIdentity().principalId());
        assertEquals("Service", last.userIdentity().type());
    }
}
