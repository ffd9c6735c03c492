package sheaf.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import sheaf.junit5.SheafExtension;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Expression;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.model.BatchGetItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.BatchWriteItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.EnhancedGlobalSecondaryIndex;
import software.amazon.awssdk.enhanced.dynamodb.model.Page;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.enhanced.dynamodb.model.ReadBatch;
import software.amazon.awssdk.enhanced.dynamodb.model.TransactGetItemsEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.TransactWriteItemsEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.WriteBatch;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

class EnhancedTest {
    @RegisterExtension static SheafExtension sheaf = new SheafExtension();

    static DynamoDbEnhancedClient enhanced;
    DynamoDbTable<Order> orders;

    @BeforeAll
    static void connect() {
        DynamoDbClient ddb = Aws.client(sheaf.endpoint());
        enhanced = DynamoDbEnhancedClient.builder().dynamoDbClient(ddb).build();
    }

    @BeforeEach
    void createTable() {
        orders = enhanced.table(Aws.newName(), TableSchema.fromBean(Order.class));
        orders.createTable(r
                -> r.globalSecondaryIndices(
                        EnhancedGlobalSecondaryIndex.builder()
                                .indexName("by-status")
                                .projection(p -> p.projectionType(ProjectionType.ALL))
                                .build()));
    }

    static Order order(int number) {
        Order order = new Order();
        order.setCustomer("CUSTOMER#1");
        order.setNumber("ORDER#%03d".formatted(number));
        order.setStatus(number % 2 == 0 ? "DONE" : "OPEN");
        order.setTotal(new BigDecimal("12.50").multiply(BigDecimal.valueOf(number)));
        return order;
    }

    static Key key(int number) {
        return Key.builder()
                .partitionValue("CUSTOMER#1")
                .sortValue("ORDER#%03d".formatted(number))
                .build();
    }

    void fill(int count) {
        IntStream.rangeClosed(1, count).forEach(i -> orders.putItem(order(i)));
    }

    static List<String> numbers(Iterable<Page<Order>> pages) {
        var found = new java.util.ArrayList<String>();
        pages.forEach(page -> page.items().forEach(order -> found.add(order.getNumber())));
        return found;
    }

    @Test
    void theBeanDescribesTheTable() {
        var table = orders.describeTable().table();
        assertEquals(Aws.keys("customer", "number"), table.keySchema());
        assertEquals("by-status", table.globalSecondaryIndexes().get(0).indexName());
    }

    @Test
    void aBeanComesBackAsItWent() {
        Order order = order(1);
        order.setPlaced(Instant.parse("2024-02-29T12:34:56.789Z"));
        order.setTags(Set.of("gift", "fragile"));
        order.setLines(List.of(line("pen", 2), line("ink", 1)));
        orders.putItem(order);
        Order found = orders.getItem(key(1));
        assertEquals(order.getPlaced(), found.getPlaced());
        assertEquals(order.getTags(), found.getTags());
        assertEquals(List.of("pen", "ink"),
                found.getLines().stream().map(Order.Line::getProduct).toList());
        assertEquals(0, order.getTotal().compareTo(found.getTotal()));
    }

    static Order.Line line(String product, int quantity) {
        Order.Line line = new Order.Line();
        line.setProduct(product);
        line.setQuantity(quantity);
        return line;
    }

    @Test
    void aMissingBeanIsNull() {
        assertNull(orders.getItem(key(404)));
    }

    @Test
    void deleteReturnsTheBean() {
        fill(1);
        assertEquals("ORDER#001", orders.deleteItem(key(1)).getNumber());
        assertNull(orders.deleteItem(key(1)));
    }

    @Test
    void versionsCountUp() {
        fill(1);
        Order found = orders.getItem(key(1));
        assertEquals(1, found.getVersion());
        found.setStatus("DONE");
        assertEquals(2, orders.updateItem(found).getVersion());
        assertEquals(2, orders.getItem(key(1)).getVersion());
    }

    @Test
    void aStaleUpdateIsRefused() {
        fill(1);
        Order mine = orders.getItem(key(1));
        Order yours = orders.getItem(key(1));
        yours.setStatus("DONE");
        orders.updateItem(yours);
        mine.setStatus("LOST");
        assertThrows(ConditionalCheckFailedException.class, () -> orders.updateItem(mine));
        assertEquals("DONE", orders.getItem(key(1)).getStatus());
    }

    @Test
    void aStalePutIsRefused() {
        fill(1);
        Order stale = order(1);
        stale.setVersion(7);
        assertThrows(ConditionalCheckFailedException.class, () -> orders.putItem(stale));
    }

    @Test
    void aNewBeanDoesNotOverwriteAnOldOne() {
        fill(1);
        assertThrows(ConditionalCheckFailedException.class, () -> orders.putItem(order(1)));
    }

    @Test
    void updateCanIgnoreNulls() {
        fill(1);
        Order change = new Order();
        change.setCustomer("CUSTOMER#1");
        change.setNumber("ORDER#001");
        change.setVersion(1);
        change.setStatus("DONE");
        Order after = orders.updateItem(r -> r.item(change).ignoreNulls(true));
        assertEquals("DONE", after.getStatus());
        assertNotNull(after.getTotal());
    }

    @Test
    void aCollectionIsQueried() {
        fill(5);
        assertEquals(List.of("ORDER#001", "ORDER#002", "ORDER#003", "ORDER#004", "ORDER#005"),
                numbers(orders.query(
                        QueryConditional.keyEqualTo(k -> k.partitionValue("CUSTOMER#1")))));
    }

    @Test
    void sortBeginsWith() {
        fill(12);
        var pages = orders.query(QueryConditional.sortBeginsWith(
                k -> k.partitionValue("CUSTOMER#1").sortValue("ORDER#01")));
        assertEquals(List.of("ORDER#010", "ORDER#011", "ORDER#012"), numbers(pages));
    }

    @Test
    void sortBetween() {
        fill(9);
        assertEquals(List.of("ORDER#003", "ORDER#004"),
                numbers(orders.query(QueryConditional.sortBetween(key(3), key(4)))));
    }

    @Test
    void sortGreaterAndLess() {
        fill(5);
        assertEquals(List.of("ORDER#005"),
                numbers(orders.query(QueryConditional.sortGreaterThan(key(4)))));
        assertEquals(List.of("ORDER#004", "ORDER#005"),
                numbers(orders.query(QueryConditional.sortGreaterThanOrEqualTo(key(4)))));
        assertEquals(
                List.of("ORDER#001"), numbers(orders.query(QueryConditional.sortLessThan(key(2)))));
        assertEquals(List.of("ORDER#001", "ORDER#002"),
                numbers(orders.query(QueryConditional.sortLessThanOrEqualTo(key(2)))));
    }

    @Test
    void backwardsInPagesOfTwo() {
        fill(5);
        var pages = orders.query(r
                -> r.scanIndexForward(false).limit(2).queryConditional(
                        QueryConditional.keyEqualTo(k -> k.partitionValue("CUSTOMER#1"))));
        assertEquals(List.of("ORDER#005", "ORDER#004", "ORDER#003", "ORDER#002", "ORDER#001"),
                numbers(pages));
        assertEquals(2, pages.iterator().next().items().size());
    }

    @Test
    void aFilterFilters() {
        fill(6);
        var pages = orders.query(r
                -> r.queryConditional(
                            QueryConditional.keyEqualTo(k -> k.partitionValue("CUSTOMER#1")))
                           .filterExpression(Expression.builder()
                                                     .expression("#s = :s")
                                                     .putExpressionName("#s", "status")
                                                     .putExpressionValue(":s", Aws.s("DONE"))
                                                     .build()));
        assertEquals(List.of("ORDER#002", "ORDER#004", "ORDER#006"), numbers(pages));
    }

    @Test
    void theIndexIsQueried() {
        fill(6);
        var pages = orders.index("by-status")
                            .query(QueryConditional.keyEqualTo(k -> k.partitionValue("OPEN")));
        assertEquals(List.of("ORDER#001", "ORDER#003", "ORDER#005"), numbers(pages));
    }

    @Test
    void theIndexFollowsAnUpdate() {
        fill(3);
        Order first = orders.getItem(key(1));
        first.setStatus("DONE");
        orders.updateItem(first);
        assertEquals(List.of("ORDER#001", "ORDER#002"),
                numbers(orders.index("by-status")
                                .query(QueryConditional.keyEqualTo(
                                        k -> k.partitionValue("DONE")))));
    }

    @Test
    void aScanFindsEverything() {
        fill(7);
        assertEquals(7, orders.scan(r -> r.limit(3)).items().stream().count());
    }

    /** A batch has no conditions, so that beans with a version go through a client without them. */
    @Test
    void aBatchIsWrittenAndRead() {
        var plain = DynamoDbEnhancedClient.builder()
                            .dynamoDbClient(Aws.client(sheaf.endpoint()))
                            .extensions(List.of())
                            .build();
        var orders = plain.table(this.orders.tableName(), TableSchema.fromBean(Order.class));
        var writes = WriteBatch.builder(Order.class).mappedTableResource(orders);
        IntStream.rangeClosed(1, 10).forEach(i -> writes.addPutItem(order(i)));
        var written = plain.batchWriteItem(
                BatchWriteItemEnhancedRequest.builder().writeBatches(writes.build()).build());
        assertTrue(written.unprocessedPutItemsForTable(orders).isEmpty());
        var read = ReadBatch.builder(Order.class)
                           .mappedTableResource(orders)
                           .addGetItem(key(2))
                           .addGetItem(key(9))
                           .addGetItem(key(99))
                           .build();
        var found =
                plain.batchGetItem(BatchGetItemEnhancedRequest.builder().readBatches(read).build())
                        .resultsForTable(orders)
                        .stream()
                        .map(Order::getNumber)
                        .sorted()
                        .toList();
        assertEquals(List.of("ORDER#002", "ORDER#009"), found);
    }

    @Test
    void aTransactionIsWritten() {
        fill(2);
        enhanced.transactWriteItems(TransactWriteItemsEnhancedRequest.builder()
                                            .addPutItem(orders, order(3))
                                            .addDeleteItem(orders, key(1))
                                            .build());
        assertEquals(List.of("ORDER#002", "ORDER#003"), numbers(orders.scan()));
    }

    @Test
    void aCancelledTransactionChangesNothing() {
        fill(1);
        Expression exists = Expression.builder().expression("attribute_exists(customer)").build();
        var failure = assertThrows(TransactionCanceledException.class,
                ()
                        -> enhanced.transactWriteItems(
                                TransactWriteItemsEnhancedRequest.builder()
                                        .addPutItem(orders, order(2))
                                        .addConditionCheck(orders,
                                                c -> c.key(key(99)).conditionExpression(exists))
                                        .build()));
        assertEquals("ConditionalCheckFailed", failure.cancellationReasons().get(1).code());
        assertNull(orders.getItem(key(2)));
    }

    @Test
    void aTransactionIsRead() {
        fill(2);
        var found = enhanced.transactGetItems(TransactGetItemsEnhancedRequest.builder()
                                                      .addGetItem(orders, key(2))
                                                      .addGetItem(orders, key(404))
                                                      .build());
        assertEquals("ORDER#002", found.get(0).getItem(orders).getNumber());
        assertNull(found.get(1).getItem(orders));
    }

    @Test
    void aConditionGuardsAPut() {
        fill(1);
        Order changed = orders.getItem(key(1));
        assertThrows(ConditionalCheckFailedException.class,
                ()
                        -> orders.putItem(r
                                -> r.item(changed).conditionExpression(
                                        Expression.builder()
                                                .expression("#s = :s")
                                                .putExpressionName("#s", "status")
                                                .putExpressionValue(":s", Aws.s("DONE"))
                                                .build())));
    }

    @Test
    void theTableIsDeleted() {
        orders.deleteTable();
        assertThrows(software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException.class,
                () -> orders.describeTable());
    }
}
