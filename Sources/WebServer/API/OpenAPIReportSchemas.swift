import PushCore
import Store

/// The schemas of checks, analyses, approvals, recalls, events, proofs, statistics and previews.
extension OpenAPISchemas {
    static let checks = #"""
        {
          "ContentToCheck": {
            "type": "object",
            "examples": [{"content": {"android": {"title": "Sale", "body": "From today"}}, "applications": ["shop-android"]}],
            "required": ["content"],
            "additionalProperties": false,
            "properties": {
              "content": {"type": "object", "additionalProperties": true, "description": "The same as the content of a delivery."},
              "applications": {"type": "array", "maxItems": 100, "items": \#(APIText.name.schema()),
                "description": "The names of the applications that it is sent to."}
            }
          },
          "DeliveryProblem": {
            "type": "object",
            "required": ["subject", "path", "problem", "remedy"],
            "properties": {
              "subject": {"enum": ["content", "filter", "application", "target", "start", "device", "mapping"], "description": "What the problem is about."},
              "path": {"type": ["string", "null"], "minLength": 1, "description": "A JSON Pointer into the content; null for the whole content or another subject."},
              "problem": {"type": "string", "minLength": 1},
              "remedy": {"$ref": "#/components/schemas/TextOrNull", "description": "What to do about it."}
            }
          },
          "Check": {
            "type": "object",
            "examples": [{"ok": false, "problems": [{"subject": "content", "path": "/ios/titel", "problem": "it is no key of this section", "remedy": "write title"}]}],
            "required": ["ok", "problems"],
            "properties": {
              "ok": {"type": "boolean", "description": "Whether no problem is known."},
              "problems": {"type": "array", "items": {"$ref": "#/components/schemas/DeliveryProblem"}}
            }
          }
        }
        """#

    static let analyses = #"""
        {
          "DeliveryAnalysis": {
            "type": "object",
            "examples": [{"deliveryId": 100, "state": "ready", "requestedAt": "2026-11-24T18:00:00.000000Z", "finishedAt": "2026-11-24T18:00:02.000000Z", "validUntil": "2026-11-24T19:00:00.000000Z", "messages": 3, "excluded": 1, "counts": [{"application": "shop-android", "locale": "fr", "timeZone": "Europe/Paris", "wave": null, "variant": null, "messages": 3}], "exclusions": [{"reason": "opted_out", "messages": 1}], "rendered": 3, "smallest": 120, "largest": 130, "refused": 0, "variants": [], "samples": [{"application": "shop-android", "variant": null, "deviceId": 70, "locale": "fr", "bytes": 120, "limit": 4096, "payload": {"message": {"token": "(push token)", "notification": {"title": "Hello Ada"}}}}], "problems": [], "seconds": 0.03, "endsAt": "2026-11-24T18:00:02.030000Z", "limitedBy": "delivery: 100 messages a second", "bound": {"kind": "rate", "name": "delivery", "beginsAt": null}, "remadeBecause": null}],
            "required": ["deliveryId", "state", "requestedAt", "finishedAt", "validUntil", "messages", "excluded", "counts", "exclusions", "rendered",
              "smallest", "largest", "refused", "variants", "samples", "problems", "seconds", "endsAt", "limitedBy", "bound", "remadeBecause"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "state": {"$ref": "#/components/schemas/DeliveryState", "description": "The delivery's present state."},
              "requestedAt": {"$ref": "#/components/schemas/Time"},
              "finishedAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When these numbers were complete; null before. It stays when the messages are dropped."},
              "validUntil": {"$ref": "#/components/schemas/TimeOrNull", "description": "A start until then sends these messages. null while they are made, once they were dropped, and once the delivery has started."},
              "messages": {"type": "integer", "minimum": 0},
              "excluded": {"type": "integer", "minimum": 0, "description": "People who were excluded."},
              "counts": {
                "type": "array",
                "description": "The messages by application, locale, time zone, wave and variant; the 1000 largest numbers.",
                "items": {
                  "type": "object",
                  "required": ["application", "locale", "timeZone", "wave", "variant", "messages"],
                  "properties": {
                    "application": {"type": "string", "minLength": 1},
                    "locale": {"$ref": "#/components/schemas/TextOrNull"},
                    "timeZone": {"$ref": "#/components/schemas/TextOrNull"},
                    "wave": {"type": ["integer", "null"], "minimum": 1, "description": "null without waves."},
                    "variant": {"type": ["integer", "null"], "minimum": 1, "maximum": 8, "description": "null for the rest, and if the delivery is no experiment."},
                    "messages": {"type": "integer", "minimum": 1}
                  }
                }
              },
              "exclusions": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["reason", "messages"],
                  "properties": {
                    "reason": {"type": "string", "description": "Such as opted_out."},
                    "messages": {"type": "integer", "minimum": 1}
                  }
                }
              },
              "rendered": {"type": "integer", "minimum": 0, "description": "The number of messages in the sample, half of which have the longest values."},
              "smallest": {"type": ["integer", "null"], "minimum": 0, "description": "The smallest payload of the sample in bytes, as the gateway counts them."},
              "largest": {"type": ["integer", "null"], "minimum": 0},
              "refused": {"type": "integer", "minimum": 0, "description": "How many messages of the sample would not be sent."},
              "variants": {
                "type": "array",
                "description": "The same by variant, if the delivery is an experiment: the sample was rendered with each.",
                "items": {
                  "type": "object",
                  "required": ["variant", "rendered", "smallest", "largest", "refused"],
                  "properties": {
                    "variant": {"$ref": "#/components/schemas/TextOrNull", "description": "Its label."},
                    "rendered": {"type": "integer", "minimum": 0},
                    "smallest": {"type": ["integer", "null"], "minimum": 0},
                    "largest": {"type": ["integer", "null"], "minimum": 0},
                    "refused": {"type": "integer", "minimum": 0}
                  }
                }
              },
              "samples": {
                "type": ["array", "null"],
                "description": "Three messages of each application and variant; null if the key may not read them.",
                "items": {
                  "type": "object",
                  "required": ["application", "variant", "deviceId", "locale", "bytes", "limit", "payload"],
                  "properties": {
                    "application": {"type": "string", "minLength": 1},
                    "variant": {"$ref": "#/components/schemas/TextOrNull", "description": "The variant that it shows; null if the delivery is no experiment."},
                    "deviceId": {"type": "integer"},
                    "locale": {"$ref": "#/components/schemas/TextOrNull", "description": "The language variant of the content; null for the default."},
                    "bytes": {"type": "integer", "minimum": 0, "description": "The size of the payload, as the gateway counts it."},
                    "limit": {"type": "integer", "minimum": 0, "description": "The gateway's maximum."},
                    "payload": {"type": ["object", "null"], "additionalProperties": true, "description": "As the gateway would get it, without the push token."}
                  }
                }
              },
              "problems": {"type": "array", "items": {"$ref": "#/components/schemas/DeliveryProblem"}, "description": "Why it could not be prepared; it is then editing."},
              "seconds": {"type": ["number", "null"], "minimum": 0, "description": "How long sending takes at least, from the start that is set, or from now on: under the limits in force and by the delivery's plan; null if neither decides it, and once the delivery has ended."},
              "endsAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When the last message leaves then."},
              "limitedBy": {"$ref": "#/components/schemas/TextOrNull", "description": "What decides that, in words: a limit, or what begins last."},
              "bound": {
                "type": ["object", "null"],
                "description": "The same, for programs.",
                "required": ["kind", "name", "beginsAt"],
                "properties": {
                  "kind": {"type": "string", "enum": ["rate", "zone", "hours", "wave", "winner"]},
                  "name": {"$ref": "#/components/schemas/TextOrNull", "description": "The limit, the time zone, or the number of the wave; null for the winner of an experiment."},
                  "beginsAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When it begins; null for a rate."}
                }
              },
              "remadeBecause": {"$ref": "#/components/schemas/TextOrNull", "description": "Why an earlier analysis was made again or dropped."}
            }
          },
          "TargetCount": {
            "type": "object",
            "examples": [{"deliveryId": 100, "answeredAt": "2026-11-24T18:00:00.000000Z", "counts": [{"application": "shop-android", "messages": 3, "excluded": 1, "estimate": false, "error": null}], "problem": null}],
            "required": ["deliveryId", "answeredAt", "counts", "problem"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "answeredAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When it was counted; null until then."},
              "counts": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["application", "messages", "excluded", "estimate", "error"],
                  "properties": {
                    "application": {"type": "string", "minLength": 1},
                    "messages": {"type": "integer", "minimum": 0},
                    "excluded": {"type": "integer", "minimum": 0, "description": "People that the target selects and that get no message."},
                    "estimate": {"type": "boolean", "description": "Whether the numbers are estimated from a sample, as those of large targets are."},
                    "error": {"type": ["integer", "null"], "minimum": 0, "description": "How far messages may be off at 95 % confidence. At most 2 % of messages, unless very few subscriptions match: then a call some seconds later returns a better number. null for a count."}
                  }
                }
              },
              "problem": {"$ref": "#/components/schemas/TextOrNull", "description": "Why it was not counted. An analysis counts every target."}
            }
          }
        }
        """#

    static let approvals = #"""
        {
          "RequestApproval": {
            "type": "object",
            "examples": [{"startAt": "2036-11-25T18:00:00Z"}],
            "additionalProperties": false,
            "properties": {"startAt": {"type": ["string", "null"], "format": "date-time", "description": "When it starts; null: as soon as it is approved."}}
          },
          "Approve": {
            "type": "object",
            "examples": [{"comment": "Checked with legal", "startAt": "2036-11-25T18:00:00Z", "version": "3c9a7fad5a165d772049"}],
            "additionalProperties": false,
            "properties": {
              "comment": \#(APIText.words.schema()),
              "version": \#(APIText.version.schema("The version that was looked at, from the delivery's approval; another one is refused with 409. Without it, the delivery is approved as it is now.")),
              "startAt": {"type": ["string", "null"], "format": "date-time", "description": "The start for which it holds; null for the one that the delivery has, or else gets first."}
            }
          },
          "Reject": {
            "type": "object",
            "examples": [{"reason": "The price is wrong"}],
            "required": ["reason"],
            "additionalProperties": false,
            "properties": {"reason": \#(APIText.words.schema(mayBeEmpty: false, "Its author reads it."))}
          },
          "DeliveryApproval": {
            "type": "object",
            "examples": [{"deliveryId": 100, "above": 10000, "messages": 120000, "awaited": false, "objection": null, "makers": ["API key shop"], "version": "3c9a7fad5a165d772049", "approval": {"by": "user mia", "at": "2026-11-24T18:00:00.000000Z", "messages": 120000, "startAt": null, "comment": "Checked with legal"}, "request": {"by": "API key shop", "at": "2026-11-24T17:00:00.000000Z"}, "startsApproved": false, "startAt": "2026-11-25T18:00:00.000000Z"}],
            "required": ["deliveryId", "above", "messages", "awaited", "objection", "makers", "version", "approval", "request", "startsApproved", "startAt"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "above": {"type": ["integer", "null"], "minimum": 0, "description": "A delivery of more messages needs an approval; null if its service asks for none."},
              "messages": {"type": ["integer", "null"], "minimum": 0, "description": "Its counted size; null if it was never counted."},
              "awaited": {"type": "boolean", "description": "Whether somebody has to approve it before it can begin."},
              "objection": {"$ref": "#/components/schemas/TextOrNull", "description": "Why it may not begin."},
              "makers": {"type": "array", "items": {"type": "string"}, "description": "Who created and changed it; none of these people may approve it."},
              "version": {"type": "string", "description": "Changes with everything that is approved. Give it with the approval, so that it holds for what you have seen."},
              "approval": {
                "oneOf": [{"type": "null"}, {
                  "type": "object",
                  "required": ["by", "at", "messages", "startAt", "comment"],
                  "properties": {
                    "by": {"type": "string"},
                    "at": {"$ref": "#/components/schemas/Time"},
                    "messages": {"type": "integer", "minimum": 0, "description": "The size that was approved; it may be a twentieth larger at the start."},
                    "startAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "The start for which it holds; null for the first one."},
                    "comment": {"$ref": "#/components/schemas/TextOrNull"}
                  }
                }]
              },
              "request": {
                "oneOf": [{"type": "null"}, {
                  "type": "object",
                  "required": ["by", "at"],
                  "properties": {
                    "by": {"type": "string", "description": "Who requested the approval and said when it starts."},
                    "at": {"$ref": "#/components/schemas/Time"}
                  }
                }]
              },
              "startsApproved": {"type": "boolean", "description": "Whether it starts as soon as it is approved."},
              "startAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "Its start; null if it has none yet, or starts as soon as it is approved."}
            }
          }
        }
        """#

    static let recalls = #"""
        {
          "Recall": {
            "type": "object",
            "examples": [{"reason": "The price is wrong", "mode": "replace", "content": {"android": {"title": "Sorry"}}}],
            "required": ["reason"],
            "additionalProperties": false,
            "properties": {
              "reason": \#(APIText.words.schema(mayBeEmpty: false)),
              "mode": {"enum": ["stop", "replace", "remove"], "default": "stop", "description": "What happens to messages that were sent."},
              "content": {"type": "object", "additionalProperties": true, "description": "What takes their place; with mode replace, and only with it."}
            }
          },
          "DeliveryComparison": {
            "type": "object",
            "examples": [{"deliveryId": 100, "withDeliveryId": 90, "measures": [{"measure": "clicked", "count": 220, "of": 500, "rate": 0.44, "withCount": 264, "withOf": 419, "withRate": 0.63, "difference": 0.19, "low": 0.126, "high": 0.252, "clear": true}]}],
            "required": ["deliveryId", "withDeliveryId", "measures"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "withDeliveryId": {"$ref": "#/components/schemas/Id"},
              "measures": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["measure", "count", "of", "rate", "withCount", "withOf", "withRate", "difference", "low", "high", "clear"],
                  "properties": {
                    "measure": {"enum": ["sent", "failed", "received", "clicked"],
                      "description": "sent and failed are shares of the target, received and clicked of the sent messages."},
                    "count": {"type": "integer"},
                    "of": {"type": "integer"},
                    "rate": {"type": ["number", "null"]},
                    "withCount": {"type": "integer"},
                    "withOf": {"type": "integer"},
                    "withRate": {"type": ["number", "null"]},
                    "difference": {"type": ["number", "null"], "description": "How much greater the rate of the other delivery is."},
                    "low": {"type": ["number", "null"], "description": "The lower end of its 95 percent interval."},
                    "high": {"type": ["number", "null"]},
                    "clear": {"type": "boolean", "description": "Whether the interval leaves out 0."}
                  }
                }
              }
            }
          },
          "RecallReport": {
            "type": "object",
            "examples": [{"deliveryId": 100, "mode": "replace", "reason": "The price is wrong", "recalledBy": "user mia", "recalledAt": "2026-11-24T18:00:00.000000Z", "recallDeliveryId": 101, "recallState": "finished", "target": 1000, "pending": 0, "unsent": 400, "replaced": 550, "removed": 0, "unreached": 0, "tooLate": 50}],
            "required": ["deliveryId", "mode", "reason", "recalledBy", "recalledAt", "recallDeliveryId", "recallState", "target", "pending",
              "unsent", "replaced", "removed", "unreached", "tooLate"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "mode": {"enum": ["stop", "replace", "remove"]},
              "reason": {"type": "string"},
              "recalledBy": {"type": "string"},
              "recalledAt": {"$ref": "#/components/schemas/Time"},
              "recallDeliveryId": {"type": ["integer", "null"], "description": "The delivery that replaces or removes what was sent; after another recall, the present one."},
              "recallState": {"type": ["string", "null"], "description": "Its state."},
              "target": {"type": "integer", "minimum": 0, "description": "The sum of the following numbers."},
              "pending": {"type": "integer", "minimum": 0, "description": "Without an outcome yet."},
              "unsent": {"type": "integer", "minimum": 0, "description": "Nobody can have seen them."},
              "replaced": {"type": "integer", "minimum": 0, "description": "The gateway took another message in their place."},
              "removed": {"type": "integer", "minimum": 0, "description": "The device has said that it removed them."},
              "unreached": {"type": "integer", "minimum": 0, "description": "The second message has not left; it never will if the second delivery was stopped. 0 once that is finished."},
              "tooLate": {"type": "integer", "minimum": 0, "description": "All others that may have been seen."}
            }
          }
        }
        """#

    static let events = #"""
        {
          "EventPage": {
            "type": "object",
            "examples": [{"page": "5ad9fdd5-2ad6-4a2e-8d80-1bbf4e3c1ad1", "events": [{"id": "7120-3", "kind": "message.failed", "occurredAt": "2026-11-24T18:00:02.000000Z", "service": "shop", "application": "shop-android", "deliveryId": 100, "sequence": 3, "deviceId": 70, "userKey": "ada", "reason": "UNREGISTERED", "httpStatus": 404, "state": null}]}],
            "required": ["page", "events"],
            "properties": {
              "page": {"type": ["string", "null"], "format": "uuid", "description": "Its id, for the next request; null if there are no new events."},
              "events": {"type": "array", "items": {"$ref": "#/components/schemas/Event"}}
            }
          },
          "Event": {
            "type": "object",
            "required": ["id", "kind", "occurredAt", "service", "application", "deliveryId", "sequence", "deviceId", "userKey", "reason", "httpStatus", "state"],
            "properties": {
              "id": {"type": "string", "minLength": 3, "description": "Unique, and the same if the event is given again."},
              "kind": {"type": "string", "pattern": "^(message|device|delivery)[.][a-z_]+$", "description": "What happened, such as message.sent or device.opted_out."},
              "occurredAt": {"$ref": "#/components/schemas/Time"},
              "service": {"$ref": "#/components/schemas/TextOrNull"},
              "application": {"$ref": "#/components/schemas/TextOrNull"},
              "deliveryId": {"type": ["integer", "null"], "format": "int64"},
              "sequence": {"type": ["integer", "null"], "minimum": 1, "description": "The number of the message in its delivery."},
              "deviceId": {"type": ["integer", "null"], "format": "int64"},
              "userKey": {"$ref": "#/components/schemas/TextOrNull", "description": "The present user of the device."},
              "reason": {"$ref": "#/components/schemas/TextOrNull", "description": "Why a message failed, or a device gets no messages."},
              "httpStatus": {"type": ["integer", "null"], "description": "The gateway's HTTP status."},
              "state": {"$ref": "#/components/schemas/TextOrNull", "description": "The new state of a delivery."}
            }
          }
        }
        """#

    static let proofs = #"""
        {
          "NewProof": {
            "type": "object",
            "examples": [{"seeds": ["ada-phone"]}],
            "additionalProperties": false,
            "properties": {
              "seeds": {"type": "array", "minItems": 1, "maxItems": 100, "items": \#(APIText.name.schema()),
                "description": "Names of seed addresses."},
              "deviceIds": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"$ref": "#/components/schemas/Id"}},
              "pushTokens": {"type": "array", "minItems": 1, "maxItems": 100, "items": \#(APIText.pushToken.schema()),
                "description": "Tokens of devices in the delivery's applications."},
              "start": {"type": "boolean", "default": true, "description": "Whether it is sent at once."},
              \#(variantMember)
            }
          }
        }
        """#

    static let previews = #"""
        {
          "NewPreview": {
            "type": "object",
            "examples": [{"deviceId": 70, "variables": {"firstName": "Ada"}}],
            "additionalProperties": false,
            "not": {"required": ["seed", "deviceId"]},
            "properties": {\#(previewMembers), \#(variantMember)}
          },
          "NewContentPreview": {
            "type": "object",
            "examples": [{"content": {"android": {"title": "Hello {{firstName}}"}}, "application": "shop-android", "seed": "ada-phone"}],
            "required": ["content", "application"],
            "additionalProperties": false,
            "not": {"required": ["seed", "deviceId"]},
            "properties": {
              "content": {"type": "object", "additionalProperties": true, "description": "The same as the content of a delivery."},
              \#(previewMembers)
            }
          },
          "Preview": {
            "type": "object",
            "examples": [{"application": "shop-ios", "platform": "ios", "format": "apns", "deviceId": 70, "locale": null, "payload": {"aps": {"alert": {"title": "Hello Ada"}}}, "size": 45, "limit": 4096, "sendable": true, "problems": []}],
            "required": ["application", "platform", "format", "deviceId", "locale", "payload", "size", "limit", "sendable", "problems"],
            "properties": {
              "application": {"type": "string"},
              "platform": {"$ref": "#/components/schemas/Platform"},
              "format": {"enum": [\#(payloadFormats)], "description": "The format of the payload, which depends on the application's account."},
              "deviceId": {"type": ["integer", "null"]},
              "locale": {"$ref": "#/components/schemas/TextOrNull", "description": "The language variant of the content; null for the default."},
              "payload": {"type": ["object", "null"], "additionalProperties": true, "description": "null if the content cannot be rendered."},
              "size": {"type": ["integer", "null"], "minimum": 0, "description": "The size of the payload in bytes, as the gateway counts it."},
              "limit": {"type": ["integer", "null"], "minimum": 0, "description": "The gateway's maximum size in bytes."},
              "sendable": {"type": "boolean", "description": "Whether there is no problem."},
              "problems": {"type": "array", "items": {"$ref": "#/components/schemas/DeliveryProblem"}}
            }
          }
        }
        """#

    private static let payloadFormats = PayloadFormat.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")

    private static let variantMember = #"""
        "variant": {"type": "integer", "minimum": 1, "maximum": \#(ExperimentRule.variantCounts.upperBound), "description": "A variant of the delivery's experiment; by default the delivery's own content."}
        """#

    private static let previewMembers = #"""
        "application": \#(APIText.name.schema("Its name. Required if the content is sent to several applications and no device is named.")),
              "deviceId": {"$ref": "#/components/schemas/Id", "description": "The device to render it for."},
              "seed": \#(APIText.name.schema(mayBeEmpty: false, "The name of the seed address to render it for.")),
              "variables": {"type": "object", "additionalProperties": true, "description": "Values for the fields of the content, without the character U+0000."},
              "locale": \#(APIText.localeTag.schema("A language tag such as fr-CA; by default the device's."))
        """#

    static let statistics = #"""
        {
          "StatisticCounts": {
            "type": "object",
            "description": "The members from sent to unknown count messages. received, opened and clicked count reports of devices; those with Unique count the messages reported on. The SDKs do not distinguish opened and clicked.",
            "required": ["sent", "failed", "ignored", "notApplicable", "canceled", "unknown", "received", "receivedUnique", "opened",
              "openedUnique", "clicked", "clickedUnique"],
            "properties": {
              "sent": {"type": "integer"},
              "failed": {"type": "integer"},
              "ignored": {"type": "integer"},
              "notApplicable": {"type": "integer"},
              "canceled": {"type": "integer"},
              "unknown": {"type": "integer"},
              "received": {"type": "integer"},
              "receivedUnique": {"type": "integer"},
              "opened": {"type": "integer"},
              "openedUnique": {"type": "integer"},
              "clicked": {"type": "integer"},
              "clickedUnique": {"type": "integer"}
            }
          },
          "Statistics": {
            "type": "object",
            "examples": [{"deliveryId": 100, "target": 3, "excluded": 0, "counts": \#(counts), "startedAt": "2026-11-24T18:00:00.000000Z", "finishedAt": "2026-11-24T18:00:02.000000Z", "complete": true}],
            "required": ["deliveryId", "target", "excluded", "counts", "startedAt", "finishedAt", "complete"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "target": {"type": "integer", "minimum": 0},
              "excluded": {"type": "integer", "minimum": 0, "description": "People who were excluded at preparation."},
              "counts": {"$ref": "#/components/schemas/StatisticCounts"},
              "startedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "finishedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "complete": {"type": "boolean", "description": "Whether the outcomes of all messages are counted."}
            }
          },
          \#(part("HourStatistics", "hours", "hour", "Time", #""2026-11-24T18:00:00.000000Z""#)),
          \#(part("ApplicationStatistics", "applications", "application", "TextOrNull", #""shop-android""#)),
          \#(part("VersionStatistics", "versions", "version", "TextOrNull", #""4.2""#)),
          \#(part("LocaleStatistics", "locales", "locale", "TextOrNull", #""fr-CA""#)),
          "FailureStatistics": {
            "type": "object",
            "examples": [{"deliveryId": 100, "next": null, "failures": [{"application": "shop-android", "status": "failed", "failureType": "hard", "failureReason": "User unknown", "reason": "UNREGISTERED", "messages": 2}]}],
            "required": ["deliveryId", "next", "failures"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "next": {"type": ["integer", "null"], "description": "The value of offset for the following page."},
              "failures": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["application", "status", "failureType", "failureReason", "reason", "messages"],
                  "properties": {
                    "application": {"$ref": "#/components/schemas/TextOrNull"},
                    "status": {"$ref": "#/components/schemas/MessageStatus"},
                    "failureType": {"enum": ["ignored", "soft", "hard", null]},
                    "failureReason": {"$ref": "#/components/schemas/TextOrNull"},
                    "reason": {"$ref": "#/components/schemas/TextOrNull", "description": "The reason given by the gateway or the engine."},
                    "messages": {"type": "integer"}
                  }
                }
              }
            }
          }
        }
        """#

    private static let counts =
        #"{"sent": 2, "failed": 1, "ignored": 0, "notApplicable": 0, "canceled": 0, "unknown": 0, "received": 1, "receivedUnique": 1, "opened": 1, "openedUnique": 1, "clicked": 1, "clickedUnique": 1}"#

    /// A page of statistics in parts.
    private static func part(_ name: String, _ list: String, _ key: String, _ schema: String, _ example: String)
        -> String
    {
        #"""
        "\#(name)": {
            "type": "object",
            "examples": [{"deliveryId": 100, "next": null, "\#(list)": [{"\#(key)": \#(example), "counts": \#(counts)}]}],
            "required": ["deliveryId", "next", "\#(list)"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "next": {"type": ["integer", "null"], "description": "The value of offset for the following page."},
              "\#(list)": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["\#(key)", "counts"],
                  "properties": {
                    "\#(key)": {"$ref": "#/components/schemas/\#(schema)"},
                    "counts": {"$ref": "#/components/schemas/StatisticCounts"}
                  }
                }
              }
            }
          }
        """#
    }
}
