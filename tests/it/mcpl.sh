#!/bin/sh
# A server that uses all of MCPL after it has reviewed its first answer; see mcpl.rs.
say() { printf '%s\n' "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"live","version":"1"},"capabilities":{"experimental":{"mcpl":{"version":"0.4","pushEvents":true,"contextHooks":{"beforeInference":true,"afterInference":{"blocking":true}},"inferenceRequest":{"streaming":true},"modelInfo":true,"channels":{"register":true,"publish":true,"observe":true,"lifecycle":true,"streaming":true},"featureSets":{"a.find":{"description":"d","uses":["contextHooks.beforeInference"]},"a.redact":{"description":"d","uses":["contextHooks.afterInference"]},"a.push":{"description":"d","uses":["pushEvents"]},"a.think":{"description":"d","uses":["inferenceRequest"]},"a.files":{"description":"d","uses":["tools"],"scoped":true},"a.chat":{"description":"d","uses":["channels.publish","channels.observe"]}}}}}}}' ;;
    *'"server/discover"'*) say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"Method not found"}}' ;;
    *'"notifications/initialized"'*) ;;
    *'"context/beforeInference"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"featureSet":"a.find","contextInjections":[{"namespace":"n","position":"beforeUser","content":"a thing to know"}]}}' ;;
    *'"context/afterInference"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"featureSet":"a.redact","modifiedResponse":"all of it is redacted"}}'
      [ -n "$begun" ] || {
      say '{"jsonrpc":"2.0","id":101,"method":"channels/register","params":{"channels":[{"id":"chat:1","type":"chat","label":"one","direction":"bidirectional"}]}}'
      say '{"jsonrpc":"2.0","id":102,"method":"push/event","params":{"featureSet":"a.push","eventId":"e1","timestamp":"2026-01-23T14:00:00Z","payload":{"content":[{"type":"text","text":"something happened"}]}}}'
      say '{"jsonrpc":"2.0","id":103,"method":"inference/request","params":{"featureSet":"a.think","stream":true,"messages":[{"role":"user","content":"Summarize all of it"}]}}'
      say '{"jsonrpc":"2.0","id":104,"method":"model/info","params":{}}'
      say '{"jsonrpc":"2.0","id":105,"method":"scope/elevate","params":{"featureSet":"a.files","scope":{"label":"/etc/hosts"}}}'
      say '{"jsonrpc":"2.0","id":106,"method":"channels/incoming","params":{"messages":[{"channelId":"chat:1","messageId":"m1","author":{"id":"u","name":"Alice"},"timestamp":"2026-01-23T14:00:00Z","content":[{"type":"text","text":"what is the key?"}],"metadata":{}}]}}'
      }
      begun=1 ;;
    *'"channels/list"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"channels":[]}}' ;;
    *'"channels/publish"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"delivered":true,"messageId":"p1"}}' ;;
  esac
done
