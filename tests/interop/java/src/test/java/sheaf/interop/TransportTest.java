package sheaf.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sheaf.interop.Aws.item;
import static sheaf.interop.Aws.n;
import static sheaf.interop.Aws.s;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import sheaf.junit5.SheafExtension;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;

/** The SDK's HTTP clients, compressed requests, signatures that are verified, and the fixture. */
class TransportTest {
    /** Not static: an empty server for each test. */
    @RegisterExtension SheafExtension sheaf = new SheafExtension();

    @Test
    void eachTestHasAnEmptyServer() {
        try (DynamoDbClient ddb = Aws.client(sheaf.endpoint())) {
            assertTrue(ddb.listTables().tableNames().isEmpty());
            Aws.create(ddb);
            assertEquals(1, ddb.listTables().tableNames().size());
        }
    }

    @Test
    void eachTestHasAnEmptyServerAndThisIsAnother() {
        eachTestHasAnEmptyServer();
    }

    static void writeAndRead(DynamoDbClient ddb) {
        String table = Aws.create(ddb);
        String large = "é".repeat(100_000);
        for (int i = 0; i < 5; i++) {
            var row = item("pk", s("p"), "sk", s("" + i), "v", s(large));
            ddb.putItem(r -> r.tableName(table).item(row));
        }
        var found = ddb.queryPaginator(r
                               -> r.tableName(table)
                                          .keyConditionExpression("pk = :p")
                                          .expressionAttributeValues(item(":p", s("p"))))
                            .items()
                            .stream()
                            .toList();
        assertEquals(5, found.size());
        assertEquals(large, found.get(4).get("v").s());
    }

    @Test
    void theUrlConnectionClientWorks() {
        try (DynamoDbClient ddb = Aws.at(sheaf.endpoint(), DynamoDbClient.builder())
                                          .httpClient(UrlConnectionHttpClient.create())
                                          .build()) {
            writeAndRead(ddb);
        }
    }

    @Test
    void theApacheClientWorksWithExpectContinue() {
        try (DynamoDbClient ddb = Aws.at(sheaf.endpoint(), DynamoDbClient.builder())
                                          .httpClient(ApacheHttpClient.builder()
                                                              .expectContinueEnabled(true)
                                                              .maxConnections(2)
                                                              .build())
                                          .build()) {
            writeAndRead(ddb);
        }
    }

    @Test
    void theAsyncClientWorks() {
        try (DynamoDbAsyncClient ddb =
                        Aws.at(sheaf.endpoint(), DynamoDbAsyncClient.builder()).build()) {
            String table = Aws.newName();
            ddb.createTable(r
                       -> r.tableName(table)
                                  .billingMode("PAY_PER_REQUEST")
                                  .keySchema(Aws.keys("pk"))
                                  .attributeDefinitions(Aws.definitions("pk:S")))
                    .join();
            var described = ddb.waiter().waitUntilTableExists(r -> r.tableName(table)).join();
            assertEquals(TableStatus.ACTIVE,
                    described.matched().response().orElseThrow().table().tableStatus());
            List<CompletableFuture<?>> adding =
                    IntStream.range(0, 200)
                            .<CompletableFuture<?>>mapToObj(i
                                    -> ddb.updateItem(r
                                            -> r.tableName(table)
                                                       .key(item("pk", s("counter")))
                                                       .updateExpression("ADD n :one")
                                                       .expressionAttributeValues(
                                                               item(":one", n(1)))))
                            .toList();
            adding.forEach(CompletableFuture::join);
            var found = ddb.getItem(r -> r.tableName(table).key(item("pk", s("counter")))).join();
            assertEquals("200", found.item().get("n").n());
        }
    }

    @Test
    void anAsyncFailureIsTheSameException() {
        try (DynamoDbAsyncClient ddb =
                        Aws.at(sheaf.endpoint(), DynamoDbAsyncClient.builder()).build()) {
            var failure = assertThrows(
                    CompletionException.class, () -> ddb.scan(r -> r.tableName("absent")).join());
            assertInstanceOf(ResourceNotFoundException.class, failure.getCause());
        }
    }

    /** The SDK compresses only operations whose model says so, and none of DynamoDB's does. */
    static final class Gzip implements ExecutionInterceptor {
        @Override
        public Optional<RequestBody> modifyHttpContent(
                Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
            return context.requestBody().map(body -> {
                ByteArrayOutputStream packed = new ByteArrayOutputStream();
                try (InputStream in = body.contentStreamProvider().newStream();
                        GZIPOutputStream out = new GZIPOutputStream(packed)) {
                    in.transferTo(out);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return RequestBody.fromBytes(packed.toByteArray());
            });
        }

        @Override
        public SdkHttpRequest modifyHttpRequest(
                Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
            var builder = context.httpRequest().toBuilder().putHeader("Content-Encoding", "gzip");
            modifyHttpContent(context, attributes)
                    .flatMap(RequestBody::optionalContentLength)
                    .ifPresent(length -> builder.putHeader("Content-Length", length.toString()));
            return builder.build();
        }
    }

    @Test
    void compressedRequestsAreUnderstood() {
        try (DynamoDbClient ddb =
                        Aws.at(sheaf.endpoint(), DynamoDbClient.builder())
                                .httpClient(UrlConnectionHttpClient.create())
                                .overrideConfiguration(c -> c.addExecutionInterceptor(new Gzip()))
                                .build()) {
            writeAndRead(ddb);
        }
    }

    static String refusal(Runnable call) {
        return assertThrows(DynamoDbException.class, call::run).awsErrorDetails().errorCode();
    }

    @Test
    void signaturesAreVerified(@TempDir Path folder) throws IOException {
        Path ring = Files.createFile(folder.resolve("keys.ini"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(ring, """
                [AKFULL]
                secret = full-secret

                [AKREADER]
                secret = reader-secret
                access = read-only
                """);
        try (SheafExtension guarded = new SheafExtension("--auth", ring.toString()).start();
                DynamoDbClient full = with(guarded, "AKFULL", "full-secret");
                DynamoDbClient reader = with(guarded, "AKREADER", "reader-secret");
                DynamoDbClient wrong = with(guarded, "AKFULL", "guess");
                DynamoDbClient nobody = with(guarded, "AKNOBODY", "x")) {
            String table = Aws.create(full);
            full.putItem(r -> r.tableName(table).item(item("pk", s("é/+ =&"), "sk", s("s"))));
            assertEquals(1, reader.scan(r -> r.tableName(table)).count());
            assertEquals("AccessDeniedException",
                    refusal(() -> reader.deleteTable(r -> r.tableName(table))));
            assertEquals("InvalidSignatureException", refusal(wrong::listTables));
            assertEquals("UnrecognizedClientException", refusal(nobody::listTables));
        }
    }

    static DynamoDbClient with(SheafExtension server, String key, String secret) {
        return Aws.at(server.endpoint(), DynamoDbClient.builder(), key, secret).build();
    }

    @Test
    void theSdkRepeatsWhatMayBeRepeated(@TempDir Path folder) throws IOException {
        Path schedule = Files.writeString(folder.resolve("faults.ini"), """
                [every other put]
                operation = PutItem
                error = ProvisionedThroughputExceededException
                nth = 1
                every = 2
                """);
        try (SheafExtension failing = new SheafExtension("--faults", schedule.toString()).start();
                DynamoDbClient patient = Aws.client(failing.endpoint());
                DynamoDbClient hasty = Aws.at(failing.endpoint(), DynamoDbClient.builder())
                        .overrideConfiguration(
                                c -> c.retryStrategy(r -> r.maxAttempts(1))).build()) {
            String table = Aws.create(patient);
            patient.putItem(r -> r.tableName(table).item(item("pk", s("p"), "sk", s("s"))));
            assertThrows(ProvisionedThroughputExceededException.class,
                    ()
                            -> hasty.putItem(r
                                    -> r.tableName(table).item(item("pk", s("q"), "sk", s("s")))));
            assertEquals(1, patient.scan(r -> r.tableName(table)).count());
        }
    }

    @Test
    void aServerThatCannotStartSaysWhy() {
        var failure = assertThrows(
                IllegalStateException.class, () -> new SheafExtension("--no-such-flag").start());
        assertTrue(
                failure.getMessage().contains("ended before it was ready"), failure.getMessage());
    }

    @Test
    void aServerThatEndsBadlyIsTold() {
        SheafExtension killed = new SheafExtension().start();
        String port = ":" + killed.endpoint().getPort();
        killed.process().destroyForcibly();
        killed.process().onExit().join();
        var failure = assertThrows(IllegalStateException.class, killed::close);
        assertTrue(failure.getMessage().contains("ended with status 137"), failure.getMessage());
        assertTrue(failure.getMessage().contains(port), failure.getMessage());
    }

    @Test
    void aStoppedServerHasNoEndpoint() {
        SheafExtension second = new SheafExtension().start();
        second.close();
        assertThrows(IllegalStateException.class, second::endpoint);
    }
}
