#!/bin/sh
# The AWS CLI against Sheaf, as people type it. Each `check` is an assertion; the last line counts
# them. AWS_CLI names the program, and fixtures/sh starts the server.
set -u
here=$(dirname "$0")
. "$here/../../../fixtures/sh/sheaf_fixture.sh"

: "${AWS_CLI:=aws}"
python=/usr/bin/python3
[ -x $python ] || python=python3
export AWS_PAGER='' AWS_MAX_ATTEMPTS=1 AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null \
    AWS_EC2_METADATA_DISABLED=true
passed=0 failed=0
work=$(mktemp -d)
sheaf_start || exit 1
trap 'sheaf_stop; rm -rf "$work"' EXIT

# Runs the CLI; what it prints is left in $work/out and $work/err, its status in $status.
aws() {
    "$AWS_CLI" --endpoint-url "$SHEAF_ENDPOINT" --output json "$@" >"$work/out" 2>"$work/err"
    status=$?
}
ddb() { aws dynamodb "$@"; }

pass() { passed=$((passed + 1)); }
fail() { # name, what was wanted, what came
    failed=$((failed + 1))
    printf 'FAILED: %s\n    wanted: %s\n    came:   %s\n' "$1" "$2" "$3"
    sed 's/^/    | /' "$work/err"
}
# is NAME WANTED PYTHON: evaluates the expression on the answer, which it calls a.
is() {
    came=$("$python" -I -c '
import json, sys
a = json.load(open(sys.argv[1])) if __import__("os").path.getsize(sys.argv[1]) else {}
print(eval(sys.argv[2]))' "$work/out" "$3" 2>&1)
    if [ "$status" = 0 ] && [ "$came" = "$2" ]; then pass; else fail "$1" "$2" "status $status: $came"; fi
}
# ok NAME: the last command succeeded.
ok() { if [ "$status" = 0 ]; then pass; else fail "$1" "status 0" "status $status"; fi; }
# refused NAME EXCEPTION [TEXT]: it failed with status 254 or 255, that exception and that text.
refused() {
    if { [ "$status" = 254 ] || [ "$status" = 255 ]; } && grep -q "($2)" "$work/err" &&
        grep -q -e "${3:-}" "$work/err"; then
        pass
    else
        fail "$1" "status 254 or 255, $2 ${3:-}" "status $status"
    fi
}

version=$("$AWS_CLI" --version 2>&1)
echo "$version"
# Version 2 takes binary values in base64, version 1 takes them raw.
case $version in aws-cli/1.*) blob=QUFFQy93PT0= ;; *) blob=AAEC/w== ;; esac

# ---- tables ----
ddb list-tables
is "a new server has no tables" "[]" "a['TableNames']"

ddb create-table --table-name shop --billing-mode PAY_PER_REQUEST \
    --attribute-definitions AttributeName=PK,AttributeType=S AttributeName=SK,AttributeType=S \
    AttributeName=GSI1PK,AttributeType=S AttributeName=placed,AttributeType=N \
    --key-schema AttributeName=PK,KeyType=HASH AttributeName=SK,KeyType=RANGE \
    --global-secondary-indexes 'IndexName=GSI1,KeySchema=[{AttributeName=GSI1PK,KeyType=HASH},{AttributeName=SK,KeyType=RANGE}],Projection={ProjectionType=ALL}' \
    --local-secondary-indexes 'IndexName=by-placed,KeySchema=[{AttributeName=PK,KeyType=HASH},{AttributeName=placed,KeyType=RANGE}],Projection={ProjectionType=KEYS_ONLY}' \
    --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES
is "create-table answers with the name" shop "a['TableDescription']['TableName']"
is "it has one global index" GSI1 "a['TableDescription']['GlobalSecondaryIndexes'][0]['IndexName']"
is "it has one local index" by-placed "a['TableDescription']['LocalSecondaryIndexes'][0]['IndexName']"

ddb wait table-exists --table-name shop
ok "wait table-exists ends"
ddb describe-table --table-name shop
is "the table is active" ACTIVE "a['Table']['TableStatus']"
is "its global index is active" ACTIVE "a['Table']['GlobalSecondaryIndexes'][0]['IndexStatus']"
is "its stream is on" True "a['Table']['StreamSpecification']['StreamEnabled']"
is "its keys are PK and SK" "['PK', 'SK']" "[k['AttributeName'] for k in a['Table']['KeySchema']]"
arn=$(sed -n 's/.*"TableArn": "\(.*\)".*/\1/p' "$work/out")
stream=$(sed -n 's/.*"LatestStreamArn": "\(.*\)".*/\1/p' "$work/out")
ddb create-table --table-name shop --billing-mode PAY_PER_REQUEST \
    --attribute-definitions AttributeName=PK,AttributeType=S --key-schema AttributeName=PK,KeyType=HASH
refused "a second table of that name" ResourceInUseException
for name in alpha beta gamma; do
    ddb create-table --table-name $name --billing-mode PAY_PER_REQUEST \
        --attribute-definitions AttributeName=id,AttributeType=N --key-schema AttributeName=id,KeyType=HASH
    ok "create-table $name"
done
ddb list-tables
is "list-tables lists in order" "['alpha', 'beta', 'gamma', 'shop']" "a['TableNames']"
ddb list-tables --max-items 3 --page-size 2
is "list-tables --max-items" "['alpha', 'beta', 'gamma']" "a['TableNames']"
ddb describe-table --table-name absent
refused "describe-table of no table" ResourceNotFoundException "Requested resource not found"

# ---- items ----
ddb put-item --table-name shop --item '{"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}, "name": {"S": "Ada"}, "seen": {"N": "1"}}'
ok "put-item"
ddb get-item --table-name shop --key '{"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}'
is "get-item" "{'S': 'Ada'}" "a['Item']['name']"
ddb get-item --table-name shop --key '{"PK": {"S": "C#1"}, "SK": {"S": "NOTHING"}}'
is "get-item of no item" "{}" "a"
ddb get-item --table-name shop --key '{"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}' --consistent-read \
    --projection-expression '#n' --expression-attribute-names '{"#n": "name"}' --return-consumed-capacity TOTAL
is "a projection" "{'name': {'S': 'Ada'}}" "a['Item']"
is "a consistent read costs one unit" 1.0 "a['ConsumedCapacity']['CapacityUnits']"
ddb update-item --table-name shop --key '{"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}' --return-values ALL_NEW \
    --update-expression 'SET seen = seen + :one, tags = :t' --expression-attribute-values '{":one": {"N": "1"}, ":t": {"SS": ["b", "a"]}}'
is "update-item adds" "{'N': '2'}" "a['Attributes']['seen']"
is "update-item sets a set" "['a', 'b']" "sorted(a['Attributes']['tags']['SS'])"
ddb put-item --table-name shop --item '{"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}' \
    --condition-expression 'attribute_not_exists(PK)'
refused "a failed condition" ConditionalCheckFailedException "The conditional request failed"
ddb update-item --table-name shop --key '{"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}' --return-values UPDATED_OLD \
    --update-expression 'REMOVE tags' --condition-expression 'seen = :two' --expression-attribute-values '{":two": {"N": "2"}}'
is "UPDATED_OLD returns what was" "['tags']" "list(a['Attributes'])"
ddb put-item --table-name shop --item '{"PK": {"S": "C#1"}, "SK": {"S": "BLOB"}, "b": {"B": "AAEC/w=="}, "m": {"M": {"l": {"L": [{"NULL": true}, {"BOOL": false}]}}}}'
ddb delete-item --table-name shop --key '{"PK": {"S": "C#1"}, "SK": {"S": "BLOB"}}' --return-values ALL_OLD
is "delete-item returns the old item" "{'B': '$blob'}" "a['Attributes']['b']"
is "documents come back" "{'L': [{'NULL': True}, {'BOOL': False}]}" "a['Attributes']['m']['M']['l']"
ddb put-item --table-name shop --item '{"PK": {"S": "C#1"}}'
refused "an item without its sort key" ValidationException "Missing the key SK in the item"
ddb put-item --table-name shop --item '{"PK": {"S": "C#1"}, "SK": {"S": "x"}, "n": {"N": "one"}}'
refused "a number that is none" ValidationException

# ---- batches and collections ----
requests=$(for n in 1 2 3 4 5 6 7 8 9; do
    [ $n = 1 ] || printf ', '
    printf '{"PutRequest": {"Item": {"PK": {"S": "C#1"}, "SK": {"S": "ORDER#%s"}, "placed": {"N": "%s"}, "GSI1PK": {"S": "%s"}}}}' \
        $n $((100 - n)) "$([ $((n % 2)) = 0 ] && echo DONE || echo OPEN)"
done)
printf '{"shop": [%s]}' "$requests" >"$work/batch.json"
ddb batch-write-item --request-items "file://$work/batch.json"
is "batch-write-item leaves nothing" "{}" "a['UnprocessedItems']"
ddb batch-get-item --request-items '{"shop": {"Keys": [{"PK": {"S": "C#1"}, "SK": {"S": "ORDER#1"}}, {"PK": {"S": "C#1"}, "SK": {"S": "ORDER#x"}}]}}'
is "batch-get-item finds what is there" "['ORDER#1']" "[i['SK']['S'] for i in a['Responses']['shop']]"

orders='--table-name shop --key-condition-expression PK=:pk --expression-attribute-values {":pk":{"S":"C#1"}}'
ddb query $orders
is "query reads the collection" 10 "a['Count']"
is "in order" "['ORDER#1', 'PROFILE']" "[a['Items'][0]['SK']['S'], a['Items'][-1]['SK']['S']]"
ddb query --table-name shop --key-condition-expression 'PK = :pk AND begins_with(SK, :o)' --no-scan-index-forward \
    --expression-attribute-values '{":pk": {"S": "C#1"}, ":o": {"S": "ORDER#"}}' --filter-expression 'placed > :p' --max-items 2
refused "a filter with a value that is not given" ValidationException ":p"
ddb query --table-name shop --key-condition-expression 'PK = :pk AND begins_with(SK, :o)' --no-scan-index-forward \
    --expression-attribute-values '{":pk": {"S": "C#1"}, ":o": {"S": "ORDER#"}}' --max-items 2
is "backwards, two of them" "['ORDER#9', 'ORDER#8']" "[i['SK']['S'] for i in a['Items']]"
is "and a token to go on with" True "'NextToken' in a"
token=$(sed -n 's/.*"NextToken": "\(.*\)".*/\1/p' "$work/out")
ddb query --table-name shop --key-condition-expression 'PK = :pk AND begins_with(SK, :o)' --no-scan-index-forward \
    --expression-attribute-values '{":pk": {"S": "C#1"}, ":o": {"S": "ORDER#"}}' --max-items 2 --starting-token "$token"
is "which goes on" "['ORDER#7', 'ORDER#6']" "[i['SK']['S'] for i in a['Items']]"
ddb query $orders --page-size 3
is "pages of three are put together" 10 "len(a['Items'])"
ddb query $orders --no-paginate --limit 4
is "--no-paginate --limit 4 is one page" "(4, True)" "(len(a['Items']), 'LastEvaluatedKey' in a)"
ddb query $orders --select COUNT
is "a count" "(10, False)" "(a['Count'], bool(a.get('Items')))"
ddb query --table-name shop --index-name GSI1 --key-condition-expression 'GSI1PK = :s' --expression-attribute-values '{":s": {"S": "OPEN"}}'
is "a global index" "['ORDER#1', 'ORDER#3', 'ORDER#5', 'ORDER#7', 'ORDER#9']" "[i['SK']['S'] for i in a['Items']]"
ddb query --table-name shop --index-name by-placed $(echo "$orders" | cut -d' ' -f3-) --max-items 1
is "a local index" "{'PK': {'S': 'C#1'}, 'SK': {'S': 'ORDER#9'}, 'placed': {'N': '91'}}" "dict(sorted(a['Items'][0].items()))"
ddb scan --table-name shop --filter-expression 'attribute_exists(GSI1PK)' --query 'Count'
is "a scan with a filter" 9 "a"
ddb scan --table-name shop --total-segments 2 --segment 0 --query 'ScannedCount'
first=$(cat "$work/out")
ddb scan --table-name shop --total-segments 2 --segment 1 --query 'ScannedCount'
is "two segments make the table" 10 "a + $first"
ddb query --table-name shop --key-condition-expression 'SK = :s' --expression-attribute-values '{":s": {"S": "x"}}'
refused "a query without the partition key" ValidationException "Query condition missed key schema element"

# ---- transactions ----
ddb transact-write-items --transact-items '[
    {"Put": {"TableName": "shop", "Item": {"PK": {"S": "C#2"}, "SK": {"S": "PROFILE"}}, "ConditionExpression": "attribute_not_exists(PK)"}},
    {"Update": {"TableName": "shop", "Key": {"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}, "UpdateExpression": "SET seen = seen + :n", "ExpressionAttributeValues": {":n": {"N": "40"}}}}]'
ok "transact-write-items"
ddb transact-get-items --transact-items '[
    {"Get": {"TableName": "shop", "Key": {"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}}},
    {"Get": {"TableName": "shop", "Key": {"PK": {"S": "C#2"}, "SK": {"S": "PROFILE"}}}}]'
is "transact-get-items reads both" "('42', 'C#2')" "(a['Responses'][0]['Item']['seen']['N'], a['Responses'][1]['Item']['PK']['S'])"
ddb transact-write-items --transact-items '[
    {"Delete": {"TableName": "shop", "Key": {"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}}},
    {"ConditionCheck": {"TableName": "shop", "Key": {"PK": {"S": "C#2"}, "SK": {"S": "PROFILE"}}, "ConditionExpression": "attribute_not_exists(PK)"}}]'
refused "a cancelled transaction" TransactionCanceledException '\[None, ConditionalCheckFailed\]'
ddb get-item --table-name shop --key '{"PK": {"S": "C#1"}, "SK": {"S": "PROFILE"}}' --query 'Item.seen'
is "which changed nothing" "{'N': '42'}" "a"
for i in 1 2; do
    ddb transact-write-items --client-request-token once --transact-items '[{"Update": {"TableName": "alpha", "Key": {"id": {"N": "1"}}, "UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}}]'
    ok "a transaction with a token, time $i"
done
ddb get-item --table-name alpha --key '{"id": {"N": "1.0"}}'
is "happened once" "{'N': '1'}" "a['Item']['n']"

# ---- streams ----
aws dynamodbstreams list-streams --table-name shop
is "list-streams" "['$stream']" "[s['StreamArn'] for s in a['Streams']]"
aws dynamodbstreams describe-stream --stream-arn "$stream"
is "describe-stream" "('ENABLED', 'shop')" "(a['StreamDescription']['StreamStatus'], a['StreamDescription']['TableName'])"
changes=0 inserts=0
for shard in $(grep -o '"ShardId": "[^"]*"' "$work/out" | cut -d'"' -f4); do
    aws dynamodbstreams get-shard-iterator --stream-arn "$stream" --shard-id "$shard" --shard-iterator-type TRIM_HORIZON
    ok "get-shard-iterator"
    iterator=$(sed -n 's/.*"ShardIterator": "\(.*\)".*/\1/p' "$work/out")
    aws dynamodbstreams get-records --shard-iterator "$iterator"
    ok "get-records"
    changes=$((changes + $(grep -c '"eventName"' "$work/out")))
    inserts=$((inserts + $(grep -c '"eventName": "INSERT"' "$work/out")))
done
echo "[$changes, $inserts]" >"$work/out"
is "the stream holds every change" "[16, 12]" "a"

# ---- settings ----
ddb update-time-to-live --table-name shop --time-to-live-specification Enabled=true,AttributeName=expires
is "update-time-to-live" "expires" "a['TimeToLiveSpecification']['AttributeName']"
ddb describe-time-to-live --table-name shop
is "describe-time-to-live" True "a['TimeToLiveDescription']['TimeToLiveStatus'] in ('ENABLED', 'ENABLING')"
ddb tag-resource --resource-arn "$arn" --tags Key=team,Value=orders Key=stage,Value=test
ok "tag-resource"
ddb untag-resource --resource-arn "$arn" --tag-keys stage
ok "untag-resource"
ddb list-tags-of-resource --resource-arn "$arn"
is "list-tags-of-resource" "[{'Key': 'team', 'Value': 'orders'}]" "a['Tags']"
ddb describe-limits
is "describe-limits" True "a['TableMaxReadCapacityUnits'] > 0"
ddb update-table --table-name beta --billing-mode PROVISIONED --provisioned-throughput ReadCapacityUnits=3,WriteCapacityUnits=2
ok "update-table"
ddb describe-table --table-name beta --query 'Table.ProvisionedThroughput.[ReadCapacityUnits,WriteCapacityUnits]'
is "changes the throughput" "[3, 2]" "a"
ddb delete-table --table-name beta
is "delete-table" beta "a['TableDescription']['TableName']"
ddb wait table-not-exists --table-name beta
ok "wait table-not-exists ends"
ddb scan --table-name beta
refused "a scan of a deleted table" ResourceNotFoundException
ddb list-backups
refused "an operation that is not there" UnknownOperationException

sheaf_stop
status=$?
ok "the server stops cleanly"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
