package sheaf.interop;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;

/** What the tests share: clients, short words for values, and tables. */
final class Aws {
    private static final AtomicInteger TABLES = new AtomicInteger();

    private Aws() {}

    /** Points a builder of any client at the server. */
    static <B extends AwsClientBuilder<B, C>, C> B at(URI endpoint, B builder) {
        return at(endpoint, builder, "test", "test");
    }

    static <B extends AwsClientBuilder<B, C>, C> B at(
            URI endpoint, B builder, String key, String secret) {
        return builder.endpointOverride(endpoint)
                .region(Region.US_EAST_1)
                .credentialsProvider(
                        StaticCredentialsProvider.create(AwsBasicCredentials.create(key, secret)));
    }

    static DynamoDbClient client(URI endpoint) {
        return at(endpoint, DynamoDbClient.builder()).build();
    }

    static AttributeValue s(String text) {
        return AttributeValue.fromS(text);
    }

    static AttributeValue n(long number) {
        return AttributeValue.fromN(Long.toString(number));
    }

    /** A map of names and values, in turn: item("pk", s("a"), "n", n(1)). */
    static Map<String, AttributeValue> item(Object... namesAndValues) {
        Map<String, AttributeValue> made = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            made.put((String) namesAndValues[i], (AttributeValue) namesAndValues[i + 1]);
        }
        return made;
    }

    /** "pk", "sk": a partition key, then perhaps a sort key. */
    static List<KeySchemaElement> keys(String... names) {
        List<KeySchemaElement> schema = new ArrayList<>();
        for (String name : names) {
            KeyType type = schema.isEmpty() ? KeyType.HASH : KeyType.RANGE;
            schema.add(KeySchemaElement.builder().attributeName(name).keyType(type).build());
        }
        return schema;
    }

    /** "pk:S", "n:N". */
    static List<AttributeDefinition> definitions(String... namesAndTypes) {
        return Arrays.stream(namesAndTypes)
                .map(text -> text.split(":"))
                .map(part
                        -> AttributeDefinition.builder()
                                   .attributeName(part[0])
                                   .attributeType(part[1])
                                   .build())
                .toList();
    }

    static String newName() {
        return "table-" + TABLES.incrementAndGet();
    }

    /** A table of pk and sk, strings both, unless the consumer says otherwise. */
    static String create(DynamoDbClient ddb, Consumer<CreateTableRequest.Builder> more) {
        String name = newName();
        ddb.createTable(request -> {
            request.tableName(name)
                    .billingMode(BillingMode.PAY_PER_REQUEST)
                    .keySchema(keys("pk", "sk"))
                    .attributeDefinitions(definitions("pk:S", "sk:S"));
            more.accept(request);
        });
        return name;
    }

    static String create(DynamoDbClient ddb) {
        return create(ddb, request -> {});
    }

    /** A table of pk and sk with a global index GSI1 on GSI1PK and sk. */
    static String createIndexed(DynamoDbClient ddb) {
        return create(ddb,
                request
                -> request.attributeDefinitions(definitions("pk:S", "sk:S", "GSI1PK:S"))
                           .globalSecondaryIndexes(index
                                   -> index.indexName("GSI1")
                                              .keySchema(keys("GSI1PK", "sk"))
                                              .projection(
                                                      p -> p.projectionType(ProjectionType.ALL))));
    }
}
