import Store

/// The schemas of consumers of events, webhooks and dead letters.
extension OpenAPISchemas {
    static let webhooks = #"""
        {
          "EventConsumerList": {
            "type": "object",
            "required": ["consumers"],
            "properties": {"consumers": {"type": "array", "items": {"$ref": "#/components/schemas/EventConsumer"}}}
          },
          "EventConsumer": {
            "type": "object",
            "examples": [{"name": "crm", "kinds": ["message.failed"], "service": "shop", "maxAgeSeconds": 259200, "maxBytes": 10737418240, "reader": null, "readAt": null, "given": 0, "behind": false, "lagSeconds": 0.0, "lost": 0}],
            "required": ["name", "kinds", "service", "maxAgeSeconds", "maxBytes", "reader", "readAt", "given", "behind", "lagSeconds", "lost"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "kinds": {"type": "array", "items": {"type": "string"}, "description": "The kinds of events that it wants."},
              "service": {"$ref": "#/components/schemas/TextOrNull", "description": "The service whose events it gets; null for all."},
              "maxAgeSeconds": {"type": "integer", "description": "How long it may be away without losing events."},
              "maxBytes": {"type": "integer", "format": "int64", "description": "How many bytes of events it may be behind."},
              "reader": {"$ref": "#/components/schemas/TextOrNull", "description": "Who alone reads it: a role of the database, or key: and the name of an API key; null for all who may read events."},
              "readAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When it last read."},
              "given": {"type": "integer", "minimum": 0, "description": "How many events it was given."},
              "behind": {"type": "boolean", "description": "Whether events are stored that it has not read."},
              "lagSeconds": {"type": "number", "minimum": 0, "description": "How long ago it had read everything."},
              "lost": {"type": "integer", "minimum": 0, "description": "How many events it lost in the last 180 days."}
            }
          },
          "NewEventConsumer": {
            "type": "object",
            "examples": [{"name": "crm", "kinds": ["message.failed", "device"], "service": "shop"}],
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
              "name": \#(APIText.newName.schema(mayBeEmpty: false, "At most 200 bytes, and not blank.")),
              "kinds": {"type": "array", "minItems": 1, "maxItems": 1000, "items": \#(APIText.name.schema()), "description": "By default all. message, device and delivery stand for all of theirs; pushmta events kinds lists them."},
              "service": \#(APIText.name.schema(mayBeEmpty: false, "The service whose events it gets; by default all.")),
              "maxAgeSeconds": {"type": "integer", "minimum": \#(NewConsumer.ages.lowerBound), "maximum": \#(NewConsumer.ages.upperBound), "default": 259200},
              "maxBytes": {"type": "integer", "format": "int64", "minimum": \#(NewConsumer.minBytes), "maximum": \#(Int64.max), "default": 10737418240},
              "reader": \#(APIText.name.schema(mayBeEmpty: false, "Who alone reads it: key: and the name of an API key, or a role of the database; by default all who may read events."))
            }
          },
          "WebhookList": {
            "type": "object",
            "required": ["webhooks"],
            "properties": {"webhooks": {"type": "array", "items": {"$ref": "#/components/schemas/Webhook"}}}
          },
          "Webhook": {
            "type": "object",
            "examples": [{"consumer": "crm", "host": "hooks.example.com", "active": true, "inactiveReason": null, "accepted": 12, "acceptedAt": "2026-11-30T08:00:00.000000Z", "attempts": null, "trouble": null, "deadLetters": 0}],
            "required": ["consumer", "host", "active", "inactiveReason", "accepted", "acceptedAt", "attempts", "trouble", "deadLetters"],
            "properties": {
              "consumer": {"type": "string", "minLength": 1},
              "host": {"type": "string", "minLength": 1, "description": "The host and port of its address."},
              "active": {"type": "boolean"},
              "inactiveReason": {"$ref": "#/components/schemas/TextOrNull", "description": "Why it is not active; null if it was paused."},
              "accepted": {"type": "integer", "minimum": 0, "description": "How many batches the receiver has accepted."},
              "acceptedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "attempts": {"type": ["integer", "null"], "minimum": 0, "description": "How often the batch on its way was posted; null if there is none."},
              "trouble": {"$ref": "#/components/schemas/TextOrNull", "description": "Why that batch was not accepted."},
              "deadLetters": {"type": "integer", "minimum": 0}
            }
          },
          "NewWebhook": {
            "type": "object",
            "examples": [{"url": "https://hooks.example.com/push"}],
            "required": ["url"],
            "additionalProperties": false,
            "properties": {
              "url": \#(APIText.webhookURL.schema(mayBeEmpty: false, "An https:// address without a user name and a fragment.")),
              "maxEvents": {"type": "integer", "minimum": \#(WebhookRow.batchSizes.lowerBound), "maximum": \#(WebhookRow.batchSizes.upperBound), "default": \#(WebhookRow.usualBatch), "description": "The events of a request at most."}
            }
          },
          "WebhookChange": {
            "type": "object",
            "examples": [{"url": "https://hooks.example.com/new"}],
            "required": ["url"],
            "additionalProperties": false,
            "properties": {
              "url": \#(APIText.webhookURL.schema(mayBeEmpty: false, "An https:// address without a user name and a fragment.")),
              "maxEvents": {"type": "integer", "minimum": \#(WebhookRow.batchSizes.lowerBound), "maximum": \#(WebhookRow.batchSizes.upperBound), "description": "The events of a request at most; by default as before."}
            }
          },
          "SecretRotation": {
            "type": "object",
            "examples": [{"overlapSeconds": 86400}],
            "additionalProperties": false,
            "properties": {
              "overlapSeconds": {"type": "integer", "minimum": \#(WebhookRow.overlaps.lowerBound), "maximum": \#(WebhookRow.overlaps.upperBound), "default": \#(WebhookRow.usualOverlap), "description": "How long the present secret signs, too; 0 also ends earlier ones."}
            }
          },
          "WebhookSecret": {
            "type": "object",
            "required": ["consumer", "secret"],
            "properties": {
              "consumer": {"type": "string", "minLength": 1},
              "secret": {"type": "string", "minLength": 1, "description": "The secret of the signatures, as Standard Webhooks writes it. It is shown only now."}
            }
          },
          "DeadLetterList": {
            "type": "object",
            "required": ["deadLetters"],
            "properties": {"deadLetters": {"type": "array", "items": {"$ref": "#/components/schemas/DeadLetter"}}}
          },
          "DeadLetter": {
            "type": "object",
            "examples": [{"id": "5ad9fdd5-2ad6-4a2e-8d80-1bbf4e3c1ad1", "consumer": "crm", "events": 100, "deadAt": "2026-11-30T08:00:00.000000Z", "httpStatus": 500, "trouble": "the receiver answered 500"}],
            "required": ["id", "consumer", "events", "deadAt", "httpStatus", "trouble"],
            "properties": {
              "id": {"type": "string", "format": "uuid"},
              "consumer": {"type": "string", "minLength": 1},
              "events": {"type": "integer", "minimum": 0},
              "deadAt": {"$ref": "#/components/schemas/Time"},
              "httpStatus": {"type": ["integer", "null"], "description": "Of the last answer; null if there was none."},
              "trouble": {"type": "string"}
            }
          }
        }
        """#
}
