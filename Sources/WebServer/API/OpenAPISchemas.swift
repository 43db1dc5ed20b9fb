import PushCore

/// The schemas of the OpenAPI document: JSON Schema 2020-12.
enum OpenAPISchemas {
    /// Schemas that several responses share, and applications.
    static let common = #"""
        {
          "Document": {"type": "object", "required": ["openapi", "info", "paths"], "additionalProperties": true},
          "Problem": {
            "type": "object",
            "examples": [{"type": "urn:pushmta:problem:invalid_value", "title": "A value is invalid", "status": 400, "code": "invalid_value", "detail": "/pushToken: it is missing.", "remedy": "Correct what errors lists; /api/v1/openapi.json describes the accepted values.", "requestId": "a3581cb2-16f", "errors": [{"path": "/pushToken", "problem": "it is missing"}]}],
            "required": ["type", "title", "status", "code", "detail", "remedy", "requestId"],
            "properties": {
              "type": {"type": "string", "format": "uri"},
              "title": {"type": "string"},
              "status": {"type": "integer", "minimum": 400, "maximum": 599},
              "code": {"enum": ["malformed_request", "invalid_value", "unauthenticated", "missing_scope", "not_found", "method_not_allowed",
                "conflict", "too_large", "too_many_requests", "unsupported_media_type", "internal_error", "unavailable", "result_unknown"]},
              "detail": {"type": "string", "description": "What happened, to which thing, and why."},
              "remedy": {"type": "string", "description": "What to do."},
              "requestId": {"type": "string", "description": "The request's id in the server's log."},
              "errors": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["path", "problem"],
                  "properties": {
                    "path": {"type": "string",
                      "description": "A JSON Pointer into the body; or query:, path: or header: and the name of a parameter."},
                    "problem": {"type": "string"}
                  }
                }
              }
            }
          },
          "Time": {"type": "string", "format": "date-time", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$"},
          "TimeOrNull": {"oneOf": [{"$ref": "#/components/schemas/Time"}, {"type": "null"}]},
          "TextOrNull": {"type": ["string", "null"], "minLength": 1},
          "Id": {"type": "integer", "format": "int64", "minimum": 1},
          "Platform": {"enum": ["ios", "android"]},
          "Application": {
            "type": "object",
            "examples": [{"name": "shop-android", "label": "Shop", "service": "shop", "platform": "android", "environment": "production", "integrationKey": "shop-android-key", "bundleId": "com.example.shop", "hasCredential": true, "circuit": "closed", "circuitReason": null}],
            "required": ["name", "label", "service", "platform", "environment", "integrationKey", "bundleId", "hasCredential", "circuit",
              "circuitReason"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "label": {"type": "string"},
              "service": {"type": "string"},
              "platform": {"$ref": "#/components/schemas/Platform"},
              "environment": {"enum": ["sandbox", "production"]},
              "integrationKey": {"type": "string", "description": "How its devices identify it when they register."},
              "bundleId": {"$ref": "#/components/schemas/TextOrNull"},
              "hasCredential": {"type": "boolean", "description": "Whether it has one; credentials cannot be read."},
              "circuit": {"enum": ["closed", "open", "probing"], "description": "closed: messages are sent."},
              "circuitReason": {"$ref": "#/components/schemas/TextOrNull"}
            }
          },
          "ApplicationList": {
            "type": "object",
            "examples": [{"applications": [{"name": "shop-android", "label": "Shop", "service": "shop", "platform": "android", "environment": "production", "integrationKey": "shop-android-key", "bundleId": "com.example.shop", "hasCredential": true, "circuit": "closed", "circuitReason": null}]}],
            "required": ["applications"],
            "properties": {"applications": {"type": "array", "items": {"$ref": "#/components/schemas/Application"}}}
          }
        }
        """#

    static let devices = #"""
        {
          "NewDevice": {
            "type": "object",
            "examples": [{"application": "shop-android", "pushToken": "fGciOiJIUzI1NiJ9:APA91bHun4MxP5egoKMwt2KZFBaFUH", "userKey": "ada@example.com", "deviceId": "a1b2c3", "locale": "fr-CA", "timeZone": "Europe/Paris", "device": {"model": "Pixel 9"}, "parameters": {"firstName": "Ada"}}],
            "required": ["application", "pushToken"],
            "additionalProperties": false,
            "properties": {
              "application": \#(APIText.name.schema("The name of the application.")),
              "pushToken": \#(APIText.pushToken.schema(mayBeEmpty: false, "The token that the gateway knows.")),
              "userKey": \#(APIText.plainKey.schema("The device's user. If omitted, it stays as it is; if empty, the device has no user.")),
              "deviceId": \#(APIText.plainKey.schema("Identifies the device when its token is renewed; the old token is then disabled. An id that many devices share, such as 000000000000000, is ignored.")),
              "locale": \#(APIText.deviceSetting.schema("A language tag such as fr-CA.")),
              "timeZone": \#(APIText.deviceSetting.schema("A name such as Europe/Paris.")),
              "device": {"type": "object", "additionalProperties": \#(APIText.value.schema()),
                "description": "Properties of the device."},
              "parameters": {"type": "object", "additionalProperties": \#(APIText.value.schema()),
                "description": "The app's own values. They replace the previous ones, which stay if this is omitted. Values that the application declares are stored as declared."}
            }
          },
          "Device": {
            "type": "object",
            "examples": [{"id": 70, "application": "shop-android", "platform": "android", "pushToken": "fGciOiJIUzI1NiJ9:APA91bHun4MxP5egoKMwt2KZFBaFUH", "userKey": "ada@example.com", "deviceId": "a1b2c3", "enabled": true, "optedOut": false, "disabledReason": null, "disabledAt": null, "quarantineStatus": "valid", "locale": "fr-CA", "timeZone": "Europe/Paris", "device": {"model": "Pixel 9"}, "parameters": {"firstName": "Ada"}, "recipient": {}, "registeredAt": "2026-11-24T18:00:00.000000Z", "createdAt": "2026-11-24T18:00:00.000000Z"}],
            "required": ["id", "application", "platform", "pushToken", "userKey", "deviceId", "enabled", "optedOut", "disabledReason",
              "disabledAt", "quarantineStatus", "locale", "timeZone", "device", "parameters", "recipient", "registeredAt", "createdAt"],
            "properties": {
              "id": {"$ref": "#/components/schemas/Id", "description": "Never reused; the subscription_id in the database."},
              "application": {"type": "string"},
              "platform": {"$ref": "#/components/schemas/Platform"},
              "pushToken": {"type": "string"},
              "userKey": {"$ref": "#/components/schemas/TextOrNull"},
              "deviceId": {"$ref": "#/components/schemas/TextOrNull"},
              "enabled": {"type": "boolean", "description": "Whether messages are sent to it, unless it is in quarantine."},
              "optedOut": {"type": "boolean"},
              "disabledReason": {"$ref": "#/components/schemas/TextOrNull"},
              "disabledAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "quarantineStatus": {"enum": ["valid", "with_errors", "quarantine", "denylisted"]},
              "locale": {"$ref": "#/components/schemas/TextOrNull"},
              "timeZone": {"$ref": "#/components/schemas/TextOrNull"},
              "device": {"type": ["object", "null"], "additionalProperties": true},
              "parameters": {"type": "object", "additionalProperties": true},
              "recipient": {"type": "object", "additionalProperties": true},
              "registeredAt": {"$ref": "#/components/schemas/Time"},
              "createdAt": {"$ref": "#/components/schemas/Time"}
            }
          },
          "OptOut": {
            "type": "object",
            "examples": [{"userKey": "ada@example.com", "optedOut": true}],
            "required": ["userKey", "optedOut"],
            "additionalProperties": false,
            "properties": {
              "userKey": \#(APIText.userKey.schema(mayBeEmpty: false, "The user of the devices.")),
              "optedOut": {"type": "boolean", "description": "true: the user wants no messages; false: the user wants messages again."},
              "application": \#(APIText.name.schema("Limits the change to this application; by default it applies to all that the key allows.")),
              "category": \#(APIText.category.schema(mayBeEmpty: false, "Limits the change to deliveries of this category."))
            }
          },
          "CategoryList": {
            "type": "object",
            "examples": [{"categories": [{"service": "shop", "name": "marketing", "label": "Marketing", "transactional": false}]}],
            "required": ["categories"],
            "properties": {"categories": {"type": "array", "items": {
              "type": "object",
              "required": ["service", "name", "label", "transactional"],
              "properties": {
                "service": {"type": "string"},
                "name": {"type": "string", "minLength": 1},
                "label": {"type": "string"},
                "transactional": {"type": "boolean", "description": "Whether nobody can opt out of it alone."}
              }
            }}}
          },
          "DeviceCategoryList": {
            "type": "object",
            "examples": [{"categories": [{"name": "marketing", "label": "Marketing", "transactional": false, "optedOut": true, "since": "2026-11-24T18:00:00.000000Z", "source": "app"}]}],
            "required": ["categories"],
            "properties": {"categories": {"type": "array", "items": {
              "type": "object",
              "required": ["name", "label", "transactional", "optedOut", "since", "source"],
              "properties": {
                "name": {"type": "string", "minLength": 1},
                "label": {"type": "string"},
                "transactional": {"type": "boolean", "description": "Whether nobody can opt out of it alone."},
                "optedOut": {"type": "boolean"},
                "since": {"$ref": "#/components/schemas/TimeOrNull"},
                "source": {"enum": ["app", "device", "user", "kept", null],
                  "description": "Who said so: the app; somebody for this device (device) or for all devices of the user (user); or an earlier subscription of the same user or token (kept)."}
              }
            }}}
          },
          "UserOptOutList": {
            "type": "object",
            "examples": [{"optOuts": [{"service": "shop", "application": "shop-android", "category": "news", "since": "2026-11-24T18:00:00.000000Z"}]}],
            "required": ["optOuts"],
            "properties": {"optOuts": {"type": "array", "items": {
              "type": "object",
              "required": ["service", "application", "category", "since"],
              "properties": {
                "service": {"type": "string"},
                "application": {"type": "string"},
                "category": {"$ref": "#/components/schemas/TextOrNull", "description": "null: everything."},
                "since": {"$ref": "#/components/schemas/Time"}
              }
            }}}
          },
          "OptOutChange": {
            "type": "object",
            "examples": [{"changed": 2}],
            "required": ["changed"],
            "properties": {"changed": {"type": "integer", "minimum": 0, "description": "The number of devices whose state changed."}}
          },
          "DeviceList": {
            "type": "object",
            "examples": [{"devices": [{"id": 70, "application": "shop-android", "platform": "android", "pushToken": "fGciOiJIUzI1NiJ9:APA91bHun4MxP5egoKMwt2KZFBaFUH", "userKey": "ada@example.com", "deviceId": "a1b2c3", "enabled": true, "optedOut": false, "disabledReason": null, "disabledAt": null, "quarantineStatus": "valid", "locale": "fr-CA", "timeZone": "Europe/Paris", "device": {"model": "Pixel 9"}, "parameters": {"firstName": "Ada"}, "recipient": {}, "registeredAt": "2026-11-24T18:00:00.000000Z", "createdAt": "2026-11-24T18:00:00.000000Z"}]}],
            "required": ["devices"],
            "properties": {"devices": {"type": "array", "items": {"$ref": "#/components/schemas/Device"}}}
          }
        }
        """#
}

extension OpenAPISchemas {
    static let deliveries = #"""
        {
          "NewDelivery": {
            "type": "object",
            "examples": [{"label": "Sale", "applications": ["shop-android"], "content": {"android": {"title": "Sale", "body": "From today"}}, "filter": "recipient.city = 'Lyon'", "validitySeconds": 86400}],
            "required": ["label", "applications", "content"],
            "additionalProperties": false,
            "properties": {
              "label": \#(APIText.label.schema(mayBeEmpty: false, "Not blank, without line breaks and control characters.")),
              "kind": {"enum": ["batch", "continuous"], "default": "batch"},
              "applications": {"type": "array", "minItems": 1, "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Their names."},
              "content": {"type": "object", "minProperties": 1, "additionalProperties": true,
                "description": "The content of its messages, such as {\"ios\": {\"title\": \"Hello\"}, \"android\": {\"title\": \"Hello\"}}; pushmta content schema prints its schema."},
              "filter": \#(APIText.filter.schema("Selects the subscribers that it is sent to.")),
              "audience": \#(APIText.name.schema(mayBeEmpty: false, "A saved audience of the applications' service, whose filter is copied, in place of a filter.")),
              "exclude": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of exclusion lists."},
              "oneTimeCode": {"type": "boolean", "default": false,
                "description": "Whether it carries a code that the user has requested, for example for signing in. It is then also sent to users who opted out. Disabled tokens, quarantine and exclusion lists still apply."},
              \#(DeliverySetting.openAPIProperties(DeliverySetting.ofDelivery))
            }
          },
          "Rate": {
            "type": "object",
            "examples": [{"messagesPerSecond": 500}],
            "additionalProperties": false,
            "properties": {\#(DeliverySetting.rate.openAPIProperty())}
          },
          "Follow": {
            "type": "object",
            "examples": [{"signal": "backend-load", "target": 0.8, "floor": 10, "ceiling": 5000}, {}],
            "additionalProperties": false,
            "dependentRequired": {"signal": ["target", "floor", "ceiling"]},
            "properties": {
              "signal": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The name of a health signal. If omitted, the delivery follows none, and its present rate stays as its limit."},
              "target": {"type": "number", "minimum": \#(FollowBody.targets.lowerBound), "maximum": \#(FollowBody.targets.upperBound), "description": "The value that the signal should just not reach."},
              "floor": {"type": "number", "minimum": \#(DeliverySetting.rates.lowerBound), "maximum": \#(DeliverySetting.rates.upperBound), "description": "Messages a second that are sent in any case."},
              "ceiling": {"type": "number", "minimum": \#(DeliverySetting.rates.lowerBound), "maximum": \#(DeliverySetting.rates.upperBound), "description": "Messages a second that are never exceeded; not below the floor."}
            }
          },
          "DeliverySignal": {
            "type": "object",
            "examples": [{"name": "backend-load", "good": "below", "target": 0.8, "floor": 10, "ceiling": 5000, "value": 0.61, "ageSeconds": 0.4, "messagesPerSecond": 730.5, "state": "rising", "reason": "the signal 0.61 is below its target of 0.8"}],
            "required": ["name", "good", "target", "floor", "ceiling", "value", "ageSeconds", "messagesPerSecond", "state", "reason"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "good": {"enum": ["below", "above"], "description": "The side of the target on which the value should stay."},
              "target": {"type": "number"},
              "floor": {"type": "number"},
              "ceiling": {"type": "number"},
              "value": {"type": ["number", "null"], "description": "The last value; null if there was none."},
              "ageSeconds": {"type": ["number", "null"], "description": "The age of the value."},
              "messagesPerSecond": {"type": "number", "description": "The present rate."},
              "state": {"enum": ["rising", "holding", "falling", "at_floor", "at_ceiling", "stale", "idle"], "description": "idle: the delivery is not under way. stale: the signal has no recent value, so the rate is at its floor."},
              "reason": {"type": "string", "minLength": 1, "description": "Why the rate is what it is."}
            }
          },
          "SignalList": {
            "type": "object",
            "examples": [{"signals": [{"name": "backend-load", "kind": "prometheus", "good": "below", "value": 0.61, "ageSeconds": 0.4, "stale": false, "deliveries": 1}]}],
            "required": ["signals"],
            "properties": {
              "signals": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["name", "kind", "good", "value", "ageSeconds", "stale", "deliveries"],
                  "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "kind": {"enum": ["http", "prometheus", "sql"]},
                    "good": {"enum": ["below", "above"]},
                    "value": {"type": ["number", "null"]},
                    "ageSeconds": {"type": ["number", "null"]},
                    "stale": {"type": "boolean", "description": "Whether it has no recent value. It is read only while a delivery under way follows it."},
                    "deliveries": {"type": "integer", "minimum": 0, "description": "How many deliveries under way follow it."}
                  }
                }
              }
            }
          },
          "DeliverySeeds": {
            "type": "object",
            "examples": [{"seeds": ["ada-phone"]}],
            "additionalProperties": false,
            "properties": {"seeds": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
              "description": "Names of seed addresses of the delivery's applications; if omitted all of them, if empty none."}}
          },
          "Start": {
            "type": "object",
            "examples": [{"startAt": "2036-11-24T18:00:00Z"}],
            "additionalProperties": false,
            "properties": {"startAt": {"type": ["string", "null"], "format": "date-time", "description": "If omitted or null, now."}}
          },
          "DeliveryChanges": {
            "type": "object",
            "examples": [{"label": "Winter sale", "filter": "recipient.city = 'Lyon'", "validitySeconds": 86400}],
            "minProperties": 1,
            "additionalProperties": false,
            "not": {"required": ["validitySeconds", "endsAt"]},
            "properties": {
              "label": \#(APIText.label.schema(mayBeEmpty: false, "Not blank, without line breaks and control characters.")),
              "content": {"type": "object", "minProperties": 1, "additionalProperties": true, "description": "The whole content of its messages."},
              "filter": \#(APIText.filter.schema("Selects the subscribers that it is sent to; empty for all.")),
              "audience": \#(APIText.name.schema(mayBeEmpty: false, "A saved audience of the applications' service, whose filter is copied, in place of a filter.")),
              "exclude": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of all its exclusion lists; empty for none."},
              "endsAt": {"type": "string", "format": "date-time",
                "description": "When its validity ends, whenever it starts; replaces validitySeconds, and is replaced by it."},
              \#(DeliverySetting.openAPIProperties(DeliverySetting.ofChange, showsDefaults: false))
            }
          },
          "DeliveryCopy": {
            "type": "object",
            "examples": [{"label": "Sale, again"}],
            "additionalProperties": false,
            "properties": {"label": \#(APIText.label.schema(mayBeEmpty: false, "By default that of the original."))}
          },
          "Reschedule": {
            "type": "object",
            "examples": [{"startAt": "2036-11-25T18:00:00Z"}],
            "required": ["startAt"],
            "additionalProperties": false,
            "properties": {"startAt": {"type": ["string", "null"], "format": "date-time", "description": "null: it is editing again."}}
          },
          "DeliveryState": {"enum": ["editing", "analysing", "ready", "pending", "preparing", "in_progress", "paused", "finished", "stopped",
            "recalled"]},
          "Counts": {
            "type": "object",
            "description": "target is the sum of the others but excluded and seeds.",
            "required": ["target", "pending", "sent", "failed", "ignored", "notApplicable", "canceled", "unknown", "excluded", "seeds"],
            "properties": {
              "target": {"type": "integer", "minimum": 0},
              "pending": {"type": "integer", "minimum": 0},
              "sent": {"type": "integer", "minimum": 0},
              "failed": {"type": "integer", "minimum": 0},
              "ignored": {"type": "integer", "minimum": 0},
              "notApplicable": {"type": "integer", "minimum": 0},
              "canceled": {"type": "integer", "minimum": 0},
              "unknown": {"type": "integer", "minimum": 0},
              "excluded": {"type": "integer", "minimum": 0, "description": "People who were excluded at preparation."},
              "seeds": {"type": "integer", "minimum": 0, "description": "The number of the target's messages to seed addresses."}
            }
          },
          "Delivery": {
            "type": "object",
            "examples": [{"id": 100, "label": "Sale", "kind": "batch", "parentId": null, "state": "in_progress", "stateReason": null, "applications": ["shop-android"], "priority": 0, "counts": {"target": 3, "pending": 1, "sent": 2, "failed": 0, "ignored": 0, "notApplicable": 0, "canceled": 0, "unknown": 0, "excluded": 0, "seeds": 0}, "oneTimeCode": false, "category": "marketing", "prepared": true, "signal": null, "createdAt": "2026-11-24T18:00:00.000000Z", "startAt": null, "startedAt": "2026-11-24T18:00:00.000000Z", "finishedAt": null, "validUntil": "2026-11-25T18:00:00.000000Z", "archivedAt": null, "asOf": "2026-11-24T18:00:00.000000Z"}],
            "required": ["id", "label", "kind", "parentId", "state", "stateReason", "applications", "priority", "counts", "oneTimeCode", "category", "prepared",
              "signal", "createdAt", "startAt", "startedAt", "finishedAt", "validUntil", "archivedAt", "asOf"],
            "properties": {
              "id": {"$ref": "#/components/schemas/Id"},
              "label": {"type": "string"},
              "kind": {"enum": ["batch", "continuous"]},
              "parentId": {"type": ["integer", "null"], "description": "The delivery of which it is a day or a proof."},
              "state": {"$ref": "#/components/schemas/DeliveryState"},
              "stateReason": {"$ref": "#/components/schemas/TextOrNull"},
              "applications": {"type": "array", "items": {"type": "string"}},
              "priority": {"type": "integer"},
              "counts": {"$ref": "#/components/schemas/Counts"},
              "oneTimeCode": {"type": "boolean", "description": "Whether it is also sent to users who opted out."},
              "category": {"type": ["string", "null"], "description": "Its category, in each of its services; null for none."},
              "prepared": {"type": "boolean", "description": "Whether all of its messages have been created."},
              "signal": {"oneOf": [{"$ref": "#/components/schemas/DeliverySignal"}, {"type": "null"}],
                "description": "The health signal that its rate follows."},
              "createdAt": {"$ref": "#/components/schemas/Time"},
              "startAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "startedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "finishedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "validUntil": {"$ref": "#/components/schemas/TimeOrNull"},
              "archivedAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "Since when lists leave it out; null if they show it."},
              "asOf": {"$ref": "#/components/schemas/Time", "description": "The time of the counts."}
            }
          },
          "DeliveryList": {
            "type": "object",
            "examples": [{"deliveries": [{"id": 100, "label": "Sale", "kind": "batch", "parentId": null, "state": "in_progress", "stateReason": null, "applications": ["shop-android"], "priority": 0, "counts": {"target": 3, "pending": 1, "sent": 2, "failed": 0, "ignored": 0, "notApplicable": 0, "canceled": 0, "unknown": 0, "excluded": 0, "seeds": 0}, "oneTimeCode": false, "category": "marketing", "prepared": true, "signal": null, "createdAt": "2026-11-24T18:00:00.000000Z", "startAt": null, "startedAt": "2026-11-24T18:00:00.000000Z", "finishedAt": null, "validUntil": "2026-11-25T18:00:00.000000Z", "archivedAt": null, "asOf": "2026-11-24T18:00:00.000000Z"}], "next": null}],
            "required": ["deliveries", "next"],
            "properties": {
              "deliveries": {"type": "array", "items": {"$ref": "#/components/schemas/Delivery"}},
              "next": {"type": ["integer", "null"], "description": "The value of before for the following page."}
            }
          },
          "NewTargets": {
            "type": "object",
            "examples": [{"targets": [{"userKey": "ada@example.com", "variables": {"points": 12}}, {"deviceId": 70}]}],
            "required": ["targets"],
            "additionalProperties": false,
            "properties": {
              "targets": {"type": "array", "minItems": 1, "maxItems": 10000, "items": {"$ref": "#/components/schemas/NewTarget"}}
            }
          },
          "NewTarget": {
            "type": "object",
            "additionalProperties": false,
            "oneOf": [{"required": ["deviceId"]}, {"required": ["userKey"]}, {"required": ["pushToken"]}],
            "properties": {
              "deviceId": {"$ref": "#/components/schemas/Id"},
              "userKey": \#(APIText.userKey.schema(mayBeEmpty: false)),
              "pushToken": \#(APIText.pushToken.schema(mayBeEmpty: false)),
              "variables": {"type": "object", "additionalProperties": true, "description": "Values for the fields of the content, without the character U+0000."}
            }
          },
          "AddedTargets": {
            "type": "object",
            "examples": [{"added": 2}],
            "required": ["added"],
            "properties": {"added": {"type": "integer", "minimum": 1}}
          }
        }
        """#
}

extension OpenAPISchemas {
    static let messages = #"""
        {
          "MessageStatus": {"enum": ["pending", "sent", "failed", "ignored", "not_applicable", "canceled", "unknown"]},
          "HTTPStatusOrNull": {"type": ["integer", "null"], "minimum": 100, "maximum": 999},
          "Outcome": {
            "type": "object",
            "required": ["sequence", "deviceId", "status", "httpStatus", "reason", "failureType", "failureReason", "gatewayMessageId",
              "attempt", "loggedAt", "received", "clicked", "seed"],
            "properties": {
              "sequence": {"type": "integer", "minimum": 1, "description": "The message's number in its delivery; it never changes."},
              "deviceId": {"type": "integer", "description": "0 for a target without a device."},
              "status": {"$ref": "#/components/schemas/MessageStatus"},
              "httpStatus": {"$ref": "#/components/schemas/HTTPStatusOrNull"},
              "reason": {"$ref": "#/components/schemas/TextOrNull"},
              "failureType": {"enum": ["ignored", "soft", "hard", null]},
              "failureReason": {"$ref": "#/components/schemas/TextOrNull"},
              "gatewayMessageId": {"$ref": "#/components/schemas/TextOrNull"},
              "attempt": {"type": "integer", "minimum": 0},
              "loggedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "received": {"type": "boolean"},
              "clicked": {"type": "boolean"},
              "seed": {"type": "boolean", "description": "Whether it was sent to a seed address in addition to the target."}
            }
          },
          "OutcomePage": {
            "type": "object",
            "examples": [{"deliveryId": 100, "after": 0, "through": 1, "final": true, "next": 1, "outcomes": [{"sequence": 1, "deviceId": 70, "status": "failed", "httpStatus": 404, "reason": "UNREGISTERED", "failureType": "hard", "failureReason": "User unknown", "gatewayMessageId": null, "attempt": 1, "loggedAt": "2026-11-24T18:00:00.000000Z", "received": false, "clicked": false, "seed": false}]}],
            "required": ["deliveryId", "after", "through", "final", "next", "outcomes"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "after": {"type": "integer", "minimum": 0},
              "through": {"type": "integer", "minimum": 0, "description": "The page covers the numbers greater than after, up to this one."},
              "final": {"type": "boolean", "description": "Whether every message of the page has its outcome."},
              "next": {"type": ["integer", "null"], "description": "The value of after for the following page."},
              "outcomes": {"type": "array", "items": {"$ref": "#/components/schemas/Outcome"}}
            }
          },
          "NewMessage": {
            "type": "object",
            "examples": [{"deliveryId": 101, "userKey": "ada@example.com", "variables": {"order": "A-17"}}],
            "required": ["deliveryId"],
            "additionalProperties": false,
            "oneOf": [{"required": ["deviceId"]}, {"required": ["userKey"]}, {"required": ["pushToken"]}],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id", "description": "A started continuous delivery."},
              "deviceId": {"$ref": "#/components/schemas/Id"},
              "userKey": \#(APIText.userKey.schema(mayBeEmpty: false)),
              "pushToken": \#(APIText.pushToken.schema(mayBeEmpty: false)),
              "variables": {"type": "object", "additionalProperties": true, "description": "Values for the fields of the content, without the character U+0000."}
            }
          },
          "SentMessages": {
            "type": "object",
            "examples": [{"repeated": false, "messages": [{"id": "102-1", "deliveryId": 102, "sequence": 1, "deviceId": 70}]}],
            "required": ["repeated", "messages"],
            "properties": {
              "repeated": {"type": "boolean", "description": "Whether the key was already used; nothing was sent now."},
              "messages": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/SentMessage"}}
            }
          },
          "SentMessage": {
            "type": "object",
            "required": ["id", "deliveryId", "sequence", "deviceId"],
            "properties": {
              "id": {"type": "string"},
              "deliveryId": {"$ref": "#/components/schemas/Id", "description": "The day of the continuous delivery."},
              "sequence": {"type": "integer", "minimum": 1},
              "deviceId": {"$ref": "#/components/schemas/Id"}
            }
          },
          "NewMessages": {
            "type": "object",
            "examples": [{"messages": [{"userKey": "ada@example.com", "variables": {"order": "A-17"}, "idempotencyKey": "order-A-17"}, {"deviceId": 71}]}],
            "required": ["messages"],
            "additionalProperties": false,
            "properties": {
              "messages": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"$ref": "#/components/schemas/NewMessageOfMany"}}
            }
          },
          "NewMessageOfMany": {
            "type": "object",
            "additionalProperties": false,
            "oneOf": [{"required": ["deviceId"]}, {"required": ["userKey"]}, {"required": ["pushToken"]}],
            "properties": {
              "deviceId": {"$ref": "#/components/schemas/Id"},
              "userKey": \#(APIText.userKey.schema(mayBeEmpty: false)),
              "pushToken": \#(APIText.pushToken.schema(mayBeEmpty: false)),
              "variables": {"type": "object", "additionalProperties": true, "description": "Values for the fields of the content, without the character U+0000."},
              "idempotencyKey": \#(APIText.idempotencyKey.schema(mayBeEmpty: false, "As the header Idempotency-Key of sendMessage. Of messages with the same key, only the first is created."))
            }
          },
          "SentMessageList": {
            "type": "object",
            "examples": [{"results": [{"messages": [{"id": "102-1", "deliveryId": 102, "sequence": 1, "deviceId": 70}], "repeated": false, "refusal": null, "reason": null}, {"messages": [], "repeated": false, "refusal": "no_device", "reason": "there is no such subscription in the applications of the delivery"}]}],
            "required": ["results"],
            "properties": {
              "results": {
                "type": "array",
                "description": "The result of each message, in their order.",
                "items": {
                  "type": "object",
                  "required": ["messages", "repeated", "refusal", "reason"],
                  "properties": {
                    "messages": {"type": "array", "items": {"$ref": "#/components/schemas/SentMessage"},
                      "description": "One for each device; empty if it was refused."},
                    "repeated": {"type": "boolean", "description": "Whether the key was already used; nothing was sent now."},
                    "refusal": {"enum": ["no_device", "key_in_use", "not_reachable", "too_many_devices", null],
                      "description": "Why the message was refused."},
                    "reason": {"$ref": "#/components/schemas/TextOrNull", "description": "A description of the refusal."}
                  }
                }
              }
            }
          },
          "Message": {
            "type": "object",
            "examples": [{"id": "102-1", "deliveryId": 102, "sequence": 1, "deviceId": 70, "status": "sent", "reason": null, "httpStatus": 200, "attempt": 1, "gatewayMessageId": "projects/shop/messages/0:1", "loggedAt": "2026-11-24T18:00:00.000000Z", "received": true, "clicked": false}],
            "required": ["id", "deliveryId", "sequence", "deviceId", "status", "reason", "httpStatus", "attempt", "gatewayMessageId",
              "loggedAt", "received", "clicked"],
            "properties": {
              "id": {"type": "string"},
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "sequence": {"type": "integer", "minimum": 1},
              "deviceId": {"type": "integer"},
              "status": {"$ref": "#/components/schemas/MessageStatus"},
              "reason": {"$ref": "#/components/schemas/TextOrNull"},
              "httpStatus": {"$ref": "#/components/schemas/HTTPStatusOrNull"},
              "attempt": {"type": "integer", "minimum": 0},
              "gatewayMessageId": {"$ref": "#/components/schemas/TextOrNull"},
              "loggedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "received": {"type": "boolean"},
              "clicked": {"type": "boolean"},
              "matchedAs": {"enum": ["message_id", "uuid", "int32", "int32_hex", "gateway_id"],
                "description": "The kind of id that matched; only in findMessages."}
            }
          },
          "FoundMessages": {
            "type": "object",
            "required": ["messages"],
            "properties": {
              "messages": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Message"}}
            }
          }
        }
        """#
}
