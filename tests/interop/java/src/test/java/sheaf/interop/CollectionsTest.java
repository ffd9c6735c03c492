package sheaf.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sheaf.interop.Aws.item;
import static sheaf.interop.Aws.n;
import static sheaf.interop.Aws.s;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import sheaf.junit5.SheafExtension;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.Select;

/** One table for several kinds of things: a collection is read once and told apart by Type. */
class CollectionsTest {
    @RegisterExtension static SheafExtension sheaf = new SheafExtension();

    interface Row {}

    record Customer(String id, String name) implements Row {}

    record Order(String number, long amount, String status) implements Row {}

    record Address(String label, String city) implements Row {}

    static DynamoDbClient ddb;
    static String table;

    @BeforeAll
    static void fill() {
        ddb = Aws.client(sheaf.endpoint());
        table = Aws.createIndexed(ddb);
        save(item("pk", s("CUSTOMER#1"), "sk", s("#CUSTOMER"), "Type", s("Customer"), "name",
                s("Ada")));
        save(item("pk", s("CUSTOMER#1"), "sk", s("ADDRESS#home"), "Type", s("Address"), "city",
                s("London")));
        for (int i = 1; i <= 6; i++) {
            String status = i % 2 == 0 ? "SHIPPED" : "OPEN";
            save(item("pk", s("CUSTOMER#1"), "sk", s("ORDER#" + i), "Type", s("Order"), "amount",
                    n(i * 10L), "state", s(status), "GSI1PK", s("STATE#" + status)));
        }
        save(item("pk", s("CUSTOMER#2"), "sk", s("#CUSTOMER"), "Type", s("Customer"), "name",
                s("Bob")));
    }

    static void save(Map<String, AttributeValue> row) {
        ddb.putItem(r -> r.tableName(table).item(row));
    }

    static Row read(Map<String, AttributeValue> item) {
        String sk = item.get("sk").s();
        return switch (item.get("Type").s()) {
            case "Customer" -> new Customer(item.get("pk").s(), item.get("name").s());
            case "Order" -> new Order(sk, Long.parseLong(item.get("amount").n()), item.get("state").s());
            case "Address" -> new Address(sk, item.get("city").s());
            default -> throw new IllegalStateException("what is a " + item.get("Type"));
        };
    }

    static QueryRequest.Builder collection(String condition, Object... more) {
        Map<String, AttributeValue> values = item(more);
        values.put(":pk", s("CUSTOMER#1"));
        return QueryRequest.builder().tableName(table).keyConditionExpression(condition)
                .expressionAttributeValues(values);
    }

    static List<String> sortKeys(QueryResponse answer) {
        return answer.items().stream().map(i -> i.get("sk").s()).toList();
    }

    @Test
    void aCollectionOfSeveralKindsIsReadInOneQuery() {
        List<Row> rows = ddb.query(collection("pk = :pk").build()).items().stream()
                .map(CollectionsTest::read).toList();
        assertEquals(8, rows.size());
        assertEquals(new Customer("CUSTOMER#1", "Ada"), rows.get(0));
        assertEquals(new Address("ADDRESS#home", "London"), rows.get(1));
        assertEquals(new Order("ORDER#1", 10, "OPEN"), rows.get(2));
        assertEquals(210, rows.stream().filter(Order.class::isInstance)
                .mapToLong(row -> ((Order) row).amount()).sum());
    }

    @Test
    void theNewestComeFirstBackwards() {
        var answer = ddb.query(collection("pk = :pk AND begins_with(sk, :o)", ":o", s("ORDER#"))
                .scanIndexForward(false).limit(2).build());
        assertEquals(List.of("ORDER#6", "ORDER#5"), sortKeys(answer));
        assertTrue(answer.hasLastEvaluatedKey());
    }

    @Test
    void aRangeOfSortKeys() {
        var answer = ddb.query(collection("pk = :pk AND sk BETWEEN :a AND :b",
                ":a", s("ORDER#2"), ":b", s("ORDER#4")).build());
        assertEquals(List.of("ORDER#2", "ORDER#3", "ORDER#4"), sortKeys(answer));
    }

    @Test
    void thePaginatorReadsEveryPage() {
        var pages = ddb.queryPaginator(collection("pk = :pk").limit(3).build());
        assertEquals(8, pages.items().stream().count());
        assertTrue(pages.stream().count() >= 3);
    }

    @Test
    void aFilterComesAfterTheLimit() {
        var answer = ddb.query(collection("pk = :pk AND begins_with(sk, :o)", ":o", s("ORDER#"), ":x", n(20))
                .filterExpression("amount > :x").limit(4).build());
        assertEquals(2, answer.count());
        assertEquals(4, answer.scannedCount());
    }

    @Test
    void aCountHasNoItems() {
        var answer = ddb.query(collection("pk = :pk").select(Select.COUNT).build());
        assertEquals(8, answer.count());
        assertFalse(answer.hasItems());
    }

    @Test
    void aGlobalIndexHoldsOnlyOrders() {
        var answer = ddb.query(r -> r.tableName(table).indexName("GSI1")
                .keyConditionExpression("GSI1PK = :s")
                .expressionAttributeValues(item(":s", s("STATE#OPEN"))));
        assertEquals(List.of("ORDER#1", "ORDER#3", "ORDER#5"), sortKeys(answer));
        assertEquals(6, ddb.scan(r -> r.tableName(table).indexName("GSI1")).count());
    }

    @Test
    void aConsistentReadOfAGlobalIndexIsRefused() {
        var failure = assertThrows(DynamoDbException.class, () -> ddb.scan(
                r -> r.tableName(table).indexName("GSI1").consistentRead(true)));
        assertEquals("ValidationException", failure.awsErrorDetails().errorCode());
    }

    @Test
    void segmentsOfAScanShareTheTable() {
        List<String> found = new ArrayList<>();
        IntStream.range(0, 3).forEach(segment -> ddb.scanPaginator(
                        r -> r.tableName(table).totalSegments(3).segment(segment).limit(2))
                .items().forEach(i -> found.add(i.get("pk").s() + i.get("sk").s())));
        assertEquals(9, found.size());
        assertEquals(9, new HashSet<>(found).size());
    }

    @Test
    void aProjectionPicks() {
        var answer = ddb.query(collection("pk = :pk AND sk = :c", ":c", s("#CUSTOMER"))
                .projectionExpression("#n").expressionAttributeNames(Map.of("#n", "name")).build());
        assertEquals(List.of(item("name", s("Ada"))), answer.items());
    }

    @Test
    void aQueryWithoutThePartitionKeyIsRefused() {
        var failure = assertThrows(DynamoDbException.class, () -> ddb.query(r -> r.tableName(table)
                .keyConditionExpression("sk = :x").expressionAttributeValues(item(":x", s("y")))));
        assertTrue(failure.awsErrorDetails().errorMessage()
                .contains("Query condition missed key schema element"));
        assertEquals(Set.of("ValidationException"), Set.of(failure.awsErrorDetails().errorCode()));
    }
}
