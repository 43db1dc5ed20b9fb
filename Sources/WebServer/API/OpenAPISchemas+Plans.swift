import PushCore
import Store

/// The schemas of plans, sending hours and frequency caps.
extension OpenAPISchemas {
    static let plans = #"""
        {
          "DeliveryPlanBody": {
            "type": "object",
            "examples": [{"localTime": "2036-12-01T09:00", "onPast": "next_day", "waves": [{"percent": 5, "maxFailed": 0.02}, {"afterSeconds": 3600}]}],
            "additionalProperties": false,
            "dependentRequired": {"localTime": ["onPast"], "onPast": ["localTime"]},
            "properties": {
              "localTime": \#(APIText.localTime.schema("When each recipient gets it, on the recipient's clock: a date and a time without a zone. Subscriptions without a time zone have that of their service.")),
              "onPast": {"enum": \#(words(DeliveryPlan.PastRule.allCases)), "description": "Where that moment has passed at the start: send now, at that time of the next day, or skip the message."},
              "hours": {"enum": \#(words(DeliveryPlan.HoursRule.allCases)), "description": "What happens outside of the sending hours; by default what the service says."},
              "waves": {
                "type": "array",
                "minItems": \#(DeliveryPlan.waveCounts.lowerBound),
                "maxItems": \#(DeliveryPlan.waveCounts.upperBound),
                "description": "Each has a size, the last one is the rest.",
                "items": {
                  "type": "object",
                  "additionalProperties": false,
                  "not": {"anyOf": [{"required": ["percent", "count"]}, {"required": ["startAt", "afterSeconds"]}]},
                  "properties": {
                    "percent": {"type": "number", "minimum": \#(DeliveryPlan.percents.lowerBound), "maximum": \#(DeliveryPlan.percents.upperBound), "description": "Its share of all messages."},
                    "count": {"type": "integer", "minimum": \#(DeliveryPlan.counts.lowerBound), "maximum": \#(DeliveryPlan.counts.upperBound), "description": "Its number of messages."},
                    "startAt": {"type": "string", "format": "date-time", "description": "When it begins at the earliest."},
                    "afterSeconds": {"type": "integer", "minimum": \#(DeliveryPlan.pauses.lowerBound), "maximum": \#(DeliveryPlan.pauses.upperBound), "description": "How long after the wave before began it begins at the earliest. Neither: when each message of the wave before was tried."},
                    "maxFailed": {"type": "number", "minimum": 0, "maximum": 1, "description": "The next wave begins only if no greater share of this one's messages has failed; otherwise the delivery is paused. 1: no guard."},
                    "maxTokenErrors": {"type": "number", "minimum": 0, "maximum": 1, "description": "The same for bad push tokens; 0.2 by default for the first wave."},
                    "maxOptOuts": {"type": "number", "minimum": 0, "maximum": 1, "description": "The same for recipients who opted out."}
                  }
                }
              }
            }
          },
          "DeliveryPlan": {
            "type": "object",
            "examples": [{"deliveryId": 100, "localTime": null, "onPast": null, "hours": null, "plannedMessages": 950, "nextAt": null, "unknownZones": 0, "waves": [{"number": 1, "percent": 5, "count": null, "startAt": null, "afterSeconds": null, "maxFailed": 0.02, "maxTokenErrors": 0.2, "maxOptOuts": null, "state": "open", "openedAt": "2026-12-01T08:00:00.000000Z", "heldAt": null, "messages": 50, "sent": 20, "failed": 0, "unknown": 0}, {"number": 2, "percent": null, "count": null, "startAt": null, "afterSeconds": 3600, "maxFailed": null, "maxTokenErrors": null, "maxOptOuts": null, "state": "waiting", "openedAt": null, "heldAt": null, "messages": 950, "sent": 0, "failed": 0, "unknown": 0}]}],
            "required": ["deliveryId", "localTime", "onPast", "hours", "plannedMessages", "nextAt", "unknownZones", "waves"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "localTime": {"$ref": "#/components/schemas/TextOrNull"},
              "onPast": {"$ref": "#/components/schemas/TextOrNull"},
              "hours": {"$ref": "#/components/schemas/TextOrNull"},
              "plannedMessages": {"type": "integer", "minimum": 0, "description": "How many messages wait for their time."},
              "nextAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When the next of them leave, if that is known."},
              "unknownZones": {"type": "integer", "minimum": 0, "description": "How many messages have the service's zone because PostgreSQL does not know the one in the column that the application declares as the time zone."},
              "waves": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": ["number", "percent", "count", "startAt", "afterSeconds", "maxFailed", "maxTokenErrors", "maxOptOuts", "state", "openedAt",
                    "heldAt", "messages", "sent", "failed", "unknown"],
                  "properties": {
                    "number": {"type": "integer", "minimum": 1},
                    "percent": {"type": ["number", "null"], "minimum": 0},
                    "count": {"type": ["integer", "null"], "minimum": 1},
                    "startAt": {"$ref": "#/components/schemas/TimeOrNull"},
                    "afterSeconds": {"type": ["integer", "null"], "minimum": 0},
                    "maxFailed": {"type": ["number", "null"], "minimum": 0},
                    "maxTokenErrors": {"type": ["number", "null"], "minimum": 0},
                    "maxOptOuts": {"type": ["number", "null"], "minimum": 0},
                    "state": {"enum": ["waiting", "open", "passed", "held"], "description": "held: it did not keep to its guards, and the delivery is paused; resuming it begins the next wave."},
                    "openedAt": {"$ref": "#/components/schemas/TimeOrNull"},
                    "heldAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When it did not keep to its guards. A wave that passed with it was resumed by a person."},
                    "messages": {"type": "integer", "minimum": 0, "description": "How many it has so far."},
                    "sent": {"type": "integer", "minimum": 0},
                    "failed": {"type": "integer", "minimum": 0},
                    "unknown": {"type": "integer", "minimum": 0}
                  }
                }
              }
            }
          },
          "FrequencyCapList": {
            "type": "object",
            "examples": [{"frequencyCaps": [{"name": "week", "maxMessages": 3, "per": "days", "length": 7, "categories": ["news"]}]}],
            "required": ["frequencyCaps"],
            "properties": {"frequencyCaps": {"type": "array", "items": {"$ref": "#/components/schemas/FrequencyCap"}}}
          },
          "FrequencyCap": {
            "type": "object",
            "examples": [{"name": "week", "maxMessages": 3, "per": "days", "length": 7, "categories": ["news"]}],
            "required": ["name", "maxMessages", "per", "length", "categories"],
            "properties": {"name": {"type": "string", "minLength": 1}, \#(capMembers)}
          },
          "FrequencyCapBody": {
            "type": "object",
            "examples": [{"maxMessages": 3, "per": "days", "length": 7, "categories": ["news"]}],
            "required": ["maxMessages", "per"],
            "additionalProperties": false,
            "properties": {\#(capMembers)}
          },
          "Behaviour": {
            "type": "object",
            "examples": [{"service": "shop", "kept": true, "since": "2026-11-24T18:00:00.000000Z", "deliveries": 12}],
            "required": ["service", "kept", "since", "deliveries"],
            "properties": {
              "service": {"type": "string", "minLength": 1},
              "kept": {"type": "boolean", "description": "Whether filters can ask what people did."},
              "since": {"$ref": "#/components/schemas/TimeOrNull", "description": "When the history began; null if there is none."},
              "deliveries": {"type": "integer", "minimum": 0, "description": "How many deliveries are in it."}
            }
          },
          "SendingHours": {
            "type": "object",
            "examples": [{"service": "shop", "timeZone": "Europe/Paris", "outside": "postpone", "hours": [{"weekdays": [1, 2, 3, 4, 5], "opens": "09:00", "closes": "18:00"}], "daysOff": ["2026-12-25"]}],
            "required": ["service", "timeZone", "outside", "hours", "daysOff"],
            "properties": {
              "service": {"type": "string", "minLength": 1},
              "timeZone": {"type": "string", "minLength": 1, "description": "For recipients whose device has none."},
              "outside": {"enum": \#(words(SendingHours.Policy.allCases)), "description": "What happens to messages outside of the hours: they wait, or are not sent."},
              "hours": {
                "type": "array",
                "description": "Empty: at all times.",
                "items": {
                  "type": "object",
                  "required": ["weekdays", "opens", "closes"],
                  "properties": {
                    "weekdays": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 7}, "description": "1 is Monday."},
                    "opens": {"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}"},
                    "closes": {"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}"}
                  }
                }
              },
              "daysOff": {"type": "array", "items": {"type": "string", "format": "date"}, "description": "Days without hours."}
            }
          }
        }
        """#

    private static let capMembers = #"""
        "maxMessages": {"type": "integer", "minimum": 1, "maximum": 1000},
              "per": {"enum": \#(words(FrequencyCapRow.Unit.allCases)), "description": "What length counts: hours, days of the service, or the day of the recipient."},
              "length": {"type": "integer", "minimum": 1, "maximum": 180, "default": 1, "description": "At most 72 hours, 180 days, or one day of the recipient."},
              "categories": {"type": ["array", "null"], "minItems": 1, "maxItems": 1000, "items": \#(APIText.name.schema()), "description": "The categories that it is for and counts, by name. null: all that are not transactional."}
        """#

    /// The list of a type's words.
    private static func words<Choice: RawRepresentable<String>>(_ choices: [Choice]) -> String {
        JSONValue.texts(choices.map(\.rawValue)).compactText
    }
}
