package sheaf.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sheaf.interop.Aws.create;
import static sheaf.interop.Aws.item;
import static sheaf.interop.Aws.n;
import static sheaf.interop.Aws.s;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sheaf.junit5.SheafExtension;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ReturnConsumedCapacity;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

class ItemsTest {
    @RegisterExtension static SheafExtension sheaf = new SheafExtension();

    static final Map<String, AttributeValue> KEY = item("pk", s("p"), "sk", s("s"));
    static DynamoDbClient ddb;
    String table;

    @BeforeAll
    static void connect() {
        ddb = Aws.client(sheaf.endpoint());
    }

    @BeforeEach
    void createTable() {
        table = create(ddb);
    }

    void put(Object... namesAndValues) {
        Map<String, AttributeValue> whole = item(namesAndValues);
        whole.putAll(KEY);
        ddb.putItem(r -> r.tableName(table).item(whole));
    }

    Map<String, AttributeValue> get() {
        return ddb.getItem(r -> r.tableName(table).key(KEY).consistentRead(true)).item();
    }

    @Test
    void everyTypeComesBack() {
        SdkBytes bytes = SdkBytes.fromByteArray(new byte[] {0, -1, 127, -128});
        put("text", s("é𝄞\n\"\\"), "number", AttributeValue.fromN("-1.5"), "bytes",
                AttributeValue.fromB(bytes), "yes", AttributeValue.fromBool(true), "none",
                AttributeValue.fromNul(true), "list", AttributeValue.fromL(List.of(s("a"), n(1))),
                "map", AttributeValue.fromM(item("k", AttributeValue.fromM(Map.of()))));
        Map<String, AttributeValue> found = get();
        assertEquals("é𝄞\n\"\\", found.get("text").s());
        assertEquals("-1.5", found.get("number").n());
        assertEquals(bytes, found.get("bytes").b());
        assertTrue(found.get("yes").bool());
        assertTrue(found.get("none").nul());
        assertEquals(List.of(s("a"), n(1)), found.get("list").l());
        assertTrue(found.get("map").m().get("k").m().isEmpty());
    }

    @Test
    void setsComeBack() {
        put("words", AttributeValue.fromSs(List.of("b", "a")), "numbers",
                AttributeValue.fromNs(List.of("10", "9")), "blobs",
                AttributeValue.fromBs(List.of(SdkBytes.fromUtf8String("x"))));
        Map<String, AttributeValue> found = get();
        assertEquals(Set.of("a", "b"), new HashSet<>(found.get("words").ss()));
        assertEquals(Set.of("9", "10"), new HashSet<>(found.get("numbers").ns()));
        assertEquals(List.of(SdkBytes.fromUtf8String("x")), found.get("blobs").bs());
    }

    @Test
    void aMissingItemHasNoItem() {
        var answer = ddb.getItem(r -> r.tableName(table).key(KEY));
        assertFalse(answer.hasItem());
    }

    @ParameterizedTest
    @CsvSource({"SET a = a + :x,      6", "SET a = :x - a,      4",
            "SET a = if_not_exists(a; :x), 1", "SET a = if_not_exists(z; :x), 5",
            "ADD a :x,            6", "SET a = :x,          5"})
    void
    anUpdateComputes(String expression, String wanted) {
        put("a", n(1));
        var answer = ddb.updateItem(r
                -> r.tableName(table)
                           .key(KEY)
                           .updateExpression(expression.replace(';', ','))
                           .returnValues(ReturnValue.UPDATED_NEW)
                           .expressionAttributeValues(item(":x", n(5))));
        assertEquals(wanted, answer.attributes().get("a").n());
    }

    @Test
    void anUpdateRemovesAndDeletes() {
        put("a", n(1), "set", AttributeValue.fromSs(List.of("x", "y")));
        var answer = ddb.updateItem(r
                -> r.tableName(table)
                           .key(KEY)
                           .updateExpression("REMOVE a DELETE #s :x")
                           .returnValues(ReturnValue.ALL_NEW)
                           .expressionAttributeNames(Map.of("#s", "set"))
                           .expressionAttributeValues(
                                   item(":x", AttributeValue.fromSs(List.of("x")))));
        assertFalse(answer.attributes().containsKey("a"));
        assertEquals(List.of("y"), answer.attributes().get("set").ss());
    }

    @Test
    void listsGrow() {
        for (String word : List.of("one", "two")) {
            ddb.updateItem(r
                    -> r.tableName(table)
                               .key(KEY)
                               .updateExpression(
                                       "SET words = list_append(if_not_exists(words, :none), :more)")
                               .expressionAttributeValues(
                                       item(":none", AttributeValue.fromL(List.of()), ":more",
                                               AttributeValue.fromL(List.of(s(word))))));
        }
        assertEquals(List.of(s("one"), s("two")), get().get("words").l());
    }

    @Test
    void deleteReturnsTheOldItem() {
        put("a", n(1));
        var answer =
                ddb.deleteItem(r -> r.tableName(table).key(KEY).returnValues(ReturnValue.ALL_OLD));
        assertEquals("1", answer.attributes().get("a").n());
        assertTrue(get().isEmpty());
    }

    @Test
    void aFailedConditionIsItsOwnException() {
        put("a", n(1));
        var failure = assertThrows(ConditionalCheckFailedException.class,
                ()
                        -> ddb.putItem(r
                                -> r.tableName(table).item(KEY).conditionExpression(
                                        "attribute_not_exists(pk)")));
        assertEquals("The conditional request failed", failure.awsErrorDetails().errorMessage());
        assertFalse(failure.hasItem());
    }

    @Test
    void aFailedConditionBringsTheItemWhenAsked() {
        put("a", n(1));
        var failure = assertThrows(ConditionalCheckFailedException.class,
                ()
                        -> ddb.deleteItem(r
                                -> r.tableName(table)
                                           .key(KEY)
                                           .conditionExpression("a = :x")
                                           .expressionAttributeValues(item(":x", n(2)))
                                           .returnValuesOnConditionCheckFailure(
                                                   ReturnValuesOnConditionCheckFailure.ALL_OLD)));
        assertEquals("1", failure.item().get("a").n());
    }

    @Test
    void capacityIsTold() {
        put("v", s("x".repeat(5000)));
        var answer = ddb.getItem(r
                -> r.tableName(table).key(KEY).returnConsumedCapacity(
                        ReturnConsumedCapacity.TOTAL));
        assertEquals(1.0, answer.consumedCapacity().capacityUnits());
    }

    @Test
    void aReservedWordIsRefused() {
        var failure = assertThrows(DynamoDbException.class,
                () -> ddb.getItem(r -> r.tableName(table).key(KEY).projectionExpression("name")));
        assertEquals("ValidationException", failure.awsErrorDetails().errorCode());
        assertTrue(failure.awsErrorDetails().errorMessage().contains("reserved keyword: name"));
    }

    @Test
    void aKeyThatDoesNotFitIsRefused() {
        var failure = assertThrows(DynamoDbException.class,
                () -> ddb.getItem(r -> r.tableName(table).key(item("pk", s("p"), "sk", n(1)))));
        assertEquals("ValidationException", failure.awsErrorDetails().errorCode());
        assertEquals(400, failure.statusCode());
    }

    @Test
    void anItemThatIsTooLargeIsRefused() {
        var failure = assertThrows(DynamoDbException.class, () -> put("v", s("x".repeat(409_600))));
        assertTrue(failure.awsErrorDetails().errorMessage().contains(
                "Item size has exceeded the maximum allowed size"));
    }

    @Test
    void aBatchWritesAndReads() {
        List<WriteRequest> writes =
                IntStream.range(0, 25)
                        .mapToObj(i
                                -> WriteRequest.builder()
                                           .putRequest(
                                                   p -> p.item(item("pk", s("b"), "sk", s("" + i))))
                                           .build())
                        .toList();
        var answer = ddb.batchWriteItem(r -> r.requestItems(Map.of(table, writes)));
        assertTrue(answer.unprocessedItems().isEmpty());
        var keys =
                IntStream.range(20, 30).mapToObj(i -> item("pk", s("b"), "sk", s("" + i))).toList();
        var found = ddb.batchGetItem(
                r -> r.requestItems(Map.of(table, KeysAndAttributes.builder().keys(keys).build())));
        assertEquals(5, found.responses().get(table).size());
        assertFalse(found.hasUnprocessedKeys() && !found.unprocessedKeys().isEmpty());
    }

    @Test
    void aBatchOf26IsRefused() {
        List<WriteRequest> writes =
                IntStream.range(0, 26)
                        .mapToObj(i
                                -> WriteRequest.builder()
                                           .putRequest(
                                                   p -> p.item(item("pk", s("b"), "sk", s("" + i))))
                                           .build())
                        .toList();
        var failure = assertThrows(DynamoDbException.class,
                () -> ddb.batchWriteItem(r -> r.requestItems(Map.of(table, writes))));
        assertEquals("ValidationException", failure.awsErrorDetails().errorCode());
    }
}
