package sheaf.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static sheaf.interop.Aws.create;
import static sheaf.interop.Aws.item;
import static sheaf.interop.Aws.n;
import static sheaf.interop.Aws.s;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import sheaf.junit5.SheafExtension;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.IdempotentParameterMismatchException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

class TransactionsTest {
    @RegisterExtension static SheafExtension sheaf = new SheafExtension();

    static DynamoDbClient ddb;
    String table;

    @BeforeAll
    static void connect() {
        ddb = Aws.client(sheaf.endpoint());
    }

    @BeforeEach
    void createAccounts() {
        table = create(ddb);
        ddb.transactWriteItems(r -> r.transactItems(account("a", 100), account("b", 0)));
    }

    static Map<String, AttributeValue> key(String name) {
        return item("pk", s(name), "sk", s("ACCOUNT"));
    }

    TransactWriteItem account(String name, long balance) {
        Map<String, AttributeValue> whole = key(name);
        whole.put("balance", n(balance));
        return TransactWriteItem.builder().put(p -> p.tableName(table).item(whole)).build();
    }

    TransactWriteItem move(String name, long amount) {
        return TransactWriteItem.builder()
                .update(u
                        -> u.tableName(table)
                                   .key(key(name))
                                   .updateExpression("SET balance = balance + :x")
                                   .conditionExpression("balance >= :least")
                                   .returnValuesOnConditionCheckFailure(
                                           ReturnValuesOnConditionCheckFailure.ALL_OLD)
                                   .expressionAttributeValues(
                                           item(":x", n(amount), ":least", n(-amount))))
                .build();
    }

    long balance(String name) {
        var found = ddb.getItem(r -> r.tableName(table).key(key(name)).consistentRead(true));
        return Long.parseLong(found.item().get("balance").n());
    }

    @Test
    void bothHalvesOfATransferHappen() {
        ddb.transactWriteItems(r -> r.transactItems(move("a", -30), move("b", 30)));
        assertEquals(List.of(70L, 30L), List.of(balance("a"), balance("b")));
    }

    @Test
    void aFailedConditionCancelsWithReasonsInOrder() {
        var failure = assertThrows(TransactionCanceledException.class,
                ()
                        -> ddb.transactWriteItems(
                                r -> r.transactItems(move("b", 101), move("a", -101))));
        assertEquals(List.of("None", "ConditionalCheckFailed"),
                failure.cancellationReasons().stream().map(CancellationReason::code).toList());
        assertEquals(List.of(100L, 0L), List.of(balance("a"), balance("b")));
    }

    @Test
    void aReasonBringsTheItemWhenAsked() {
        var failure = assertThrows(TransactionCanceledException.class,
                () -> ddb.transactWriteItems(r -> r.transactItems(move("a", -101))));
        assertEquals("100", failure.cancellationReasons().get(0).item().get("balance").n());
        assertEquals(
                "The conditional request failed", failure.cancellationReasons().get(0).message());
    }

    @Test
    void aConditionCheckGuardsAnotherItem() {
        TransactWriteItem check =
                TransactWriteItem.builder()
                        .conditionCheck(c
                                -> c.tableName(table)
                                           .key(key("absent"))
                                           .conditionExpression("attribute_exists(pk)"))
                        .build();
        assertThrows(TransactionCanceledException.class,
                () -> ddb.transactWriteItems(r -> r.transactItems(check, move("a", -1))));
        assertEquals(100, balance("a"));
    }

    @Test
    void theSameTokenHappensOnce() {
        for (int i = 0; i < 3; i++) {
            ddb.transactWriteItems(
                    r -> r.clientRequestToken("once-" + table).transactItems(move("a", -10)));
        }
        assertEquals(90, balance("a"));
    }

    @Test
    void anotherRequestWithThatTokenIsRefused() {
        ddb.transactWriteItems(
                r -> r.clientRequestToken("t-" + table).transactItems(move("a", -10)));
        assertThrows(IdempotentParameterMismatchException.class,
                ()
                        -> ddb.transactWriteItems(r
                                -> r.clientRequestToken("t-" + table)
                                           .transactItems(move("a", -11))));
    }

    @Test
    void withoutATokenTheSdkMakesOnePerCall() {
        for (int i = 0; i < 2; i++) {
            ddb.transactWriteItems(r -> r.transactItems(move("a", -10)));
        }
        assertEquals(80, balance("a"));
    }

    @Test
    void readsAreAnsweredInOrder() {
        var answer = ddb.transactGetItems(r
                -> r.transactItems(g
                        -> g.get(x -> x.tableName(table).key(key("b"))),
                        g
                        -> g.get(x -> x.tableName(table).key(key("absent"))),
                        g
                        -> g.get(x
                                -> x.tableName(table).key(key("a")).projectionExpression(
                                        "balance"))));
        assertEquals("0", answer.responses().get(0).item().get("balance").n());
        assertFalse(answer.responses().get(1).hasItem());
        assertEquals(item("balance", n(100)), answer.responses().get(2).item());
    }

    @Test
    void oneItemTwiceIsRefused() {
        var failure = assertThrows(DynamoDbException.class,
                () -> ddb.transactWriteItems(r -> r.transactItems(move("a", -1), move("a", 1))));
        assertEquals("ValidationException", failure.awsErrorDetails().errorCode());
    }

    @Test
    void aHundredActionsAreATransaction() {
        var many = IntStream.range(0, 100).mapToObj(i -> account("n" + i, i)).toList();
        ddb.transactWriteItems(r -> r.transactItems(many));
        assertEquals(99, balance("n99"));
    }
}
