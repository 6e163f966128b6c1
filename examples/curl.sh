#!/bin/sh
# Asks a running model what it is, and answers its own example request.
# Usage: KEY=... sh examples/curl.sh http://localhost:8080
set -eu
url=${1:-http://localhost:8080}
key=${KEY:-}

get() { curl --silent --show-error --fail --header "authorization: Bearer $key" "$@"; }

# Ready, or why not: a container downloads and loads before it answers.
get "$url/health"
echo

# /openapi.json has the task's fields, its parameters and an example that every model of the task answers.
example=$(get "$url/openapi.json" | node -e '
  const chunks = [];
  process.stdin.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
    const { paths } = JSON.parse(Buffer.concat(chunks).toString());
    console.log(JSON.stringify(paths["/run"].post.requestBody.content["application/json"].example));
  });')
echo "request: $example"
get "$url/run" --header 'content-type: application/json' --data "$example"
echo

# A refusal says what to do; its status is 4xx.
curl --silent --show-error --header "authorization: Bearer $key" --header 'content-type: application/json' \
  --data '{"nothing": true}' --write-out '\nstatus: %{http_code}\n' "$url/run"
