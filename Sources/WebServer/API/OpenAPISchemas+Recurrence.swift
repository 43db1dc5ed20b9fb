import PushCore
import Store

/// The schemas of recurring deliveries.
extension OpenAPISchemas {
    private static let time = #"{"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}"#
    private static let date = #"{"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}"#

    /// What a rule has, in a request and in an answer.
    private static let rule = #"""
        "unit": {"enum": ["hours", "days", "weeks", "months"],
          "description": "What every counts. Hours are counted as they pass, whatever the clock shows."},
        "every": {"type": "integer", "minimum": \#(RecurrenceRule.everyRange.lowerBound), "maximum": \#(RecurrenceRule.everyRange.upperBound),
          "description": "2 is every second one. At most 720 hours, 366 days, 52 weeks, 12 months. By default 1."},
        "timeZone": \#(APIText.deviceSetting.schema(mayBeEmpty: false, "Such as Europe/Berlin."))
        """#

    static let recurrences = #"""
        {
          "RecurrenceRule": {
            "type": "object",
            "examples": [{"unit": "weeks", "times": ["09:00"], "timeZone": "Europe/Berlin", "weekdays": [1, 4], "missed": "once"}],
            "required": ["unit", "timeZone"],
            "additionalProperties": false,
            "properties": {
              \#(rule),
              "times": {"type": "array", "minItems": 1, "maxItems": \#(RecurrenceRule.maxTimes), "items": \#(time),
                "description": "Local times. With hours, one at most: from it they are counted on the first day, by default midnight."},
              "weekdays": {"type": "array", "minItems": 1, "maxItems": 7, "items": {"type": "integer", "minimum": 1, "maximum": 7},
                "description": "With weeks: 1 is Monday, 7 is Sunday. By default that of the first day."},
              "monthDays": {"type": "array", "minItems": 1, "maxItems": 62, "items": {"type": "integer", "minimum": -31, "maximum": 31, "not": {"const": 0}},
                "description": "With months: 1 to 31, or from the end, -1 for the last day. By default that of the first day."},
              "startsOn": {"type": "string", "format": "date", "description": "The first local date; by default today."},
              "endsOn": {"type": "string", "format": "date", "description": "The last local date; by default there is no end."},
              "exceptDates": {"type": "array", "maxItems": \#(RecurrenceRule.maxExceptDates), "items": {"type": "string", "format": "date"},
                "description": "Local dates without a run."},
              "missed": {"enum": ["skip", "once"],
                "description": "What follows if no run could be made at its moment: nothing before the next one (skip, the default), or one run as soon as possible (once)."}
            }
          },
          "Recurrence": {
            "type": "object",
            "examples": [{"deliveryId": 100, "state": "active", "reason": null, "unit": "weeks", "every": 1, "times": ["09:00"], "timeZone": "Europe/Berlin", "weekdays": [1, 4], "monthDays": [], "startsOn": "2026-11-30", "endsOn": null, "exceptDates": [], "missed": "once", "waitsFor": null, "nextRuns": ["2026-12-03T08:00:00.000000Z"], "runs": [{"plannedAt": "2026-11-30T08:00:00.000000Z", "notedAt": "2026-11-30T08:00:00.210000Z", "outcome": "started", "reason": null, "runId": 101, "runState": "finished", "target": 3}]}],
            "required": ["deliveryId", "state", "reason", "unit", "every", "timeZone", "times", "weekdays", "monthDays", "startsOn", "endsOn",
              "exceptDates", "missed", "waitsFor", "nextRuns", "runs"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "state": {"enum": ["editing", "active", "paused", "finished"], "description": "Runs are made while it is active."},
              "reason": {"$ref": "#/components/schemas/TextOrNull", "description": "Why it was paused or finished without a request."},
              \#(rule),
              "times": {"type": "array", "items": \#(time)},
              "weekdays": {"type": "array", "items": {"type": "integer"}},
              "monthDays": {"type": "array", "items": {"type": "integer"}},
              "startsOn": \#(date),
              "endsOn": {"oneOf": [\#(date), {"type": "null"}]},
              "exceptDates": {"type": "array", "items": \#(date)},
              "missed": {"enum": ["skip", "once"]},
              "waitsFor": {"oneOf": [{"$ref": "#/components/schemas/Id"}, {"type": "null"}],
                "description": "The run that has to end before the due one starts."},
              "nextRuns": {"type": "array", "items": {"$ref": "#/components/schemas/Time"}, "description": "The next five moments."},
              "runs": {"type": "array", "items": {"$ref": "#/components/schemas/RecurrenceRun"}, "description": "The last twenty, the latest first."}
            }
          },
          "RecurrenceRun": {
            "type": "object",
            "required": ["plannedAt", "notedAt", "outcome", "reason", "runId", "runState", "target"],
            "properties": {
              "plannedAt": {"$ref": "#/components/schemas/Time"},
              "notedAt": {"$ref": "#/components/schemas/Time", "description": "When this was decided."},
              "outcome": {"enum": ["started", "skipped_missed", "skipped_overlap", "failed"],
                "description": "skipped_missed: nothing ran at that moment. skipped_overlap: the run before had not ended. failed: it could not be made."},
              "reason": {"$ref": "#/components/schemas/TextOrNull"},
              "runId": {"oneOf": [{"$ref": "#/components/schemas/Id"}, {"type": "null"}], "description": "The run, a delivery."},
              "runState": {"oneOf": [{"$ref": "#/components/schemas/DeliveryState"}, {"type": "null"}]},
              "target": {"type": ["integer", "null"], "minimum": 0, "description": "Its messages."}
            }
          }
        }
        """#
}
