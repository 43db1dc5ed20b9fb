import PushCore
import Store

/// The schemas of experiments and conversions.
extension OpenAPISchemas {
    /// What a rule has, in a request and in an answer.
    private static let experimentRule = #"""
        "metric": {"enum": ["clicks", "receipts", "conversions"],
          "description": "What the winner has most of: messages that were clicked on, were received, or were followed by a conversion, each counted once. By default clicks."},
        "early": {"type": "boolean", "description": "Whether it is decided earlier if a variant is surely better and each has the least sample. By default true."},
        "certaintyPercent": {"type": "number", "minimum": \#(ExperimentRule.certainties.lowerBound), "maximum": \#(ExperimentRule.certainties.upperBound),
          "description": "How sure a winner is, however often the results are looked at: of experiments without a difference, at most the others name one. By default 95."},
        "leastSample": {"type": "integer", "minimum": 1, "maximum": \#(ExperimentRule.samples.upperBound),
          "description": "The least number of messages sent to each variant. By default 1000."},
        "holdOutPercent": {"type": "number", "minimum": 0, "maximum": \#(ExperimentRule.holdOuts.upperBound), "description": "The share of people who get nothing. By default 0."},
        "ifUndecided": {"enum": ["first", "wait"],
          "description": "What the rest gets if no variant is surely better at the decision: the first one (first, the default), or nothing until chooseWinner (wait)."}
        """#

    static let experiments = #"""
        {
          "ExperimentRule": {
            "type": "object",
            "examples": [{"variants": [{"label": "plain", "percent": 10}, {"label": "emoji", "percent": 10, "content": {"ios": {"title": "Sale!"}}}], "metric": "clicks", "decideAfterSeconds": 14400}],
            "required": ["variants"],
            "additionalProperties": false,
            "properties": {
              "variants": {"type": "array", "minItems": \#(ExperimentRule.variantCounts.lowerBound), "maxItems": \#(ExperimentRule.variantCounts.upperBound),
                "description": "With the hold-out, their percentages add up to 100 at most; what is left is the rest.",
                "items": {
                  "type": "object",
                  "required": ["percent"],
                  "additionalProperties": false,
                  "properties": {
                    "label": \#(APIText.label.schema(mayBeEmpty: false, "By default A, B, C and so on.")),
                    "percent": {"type": "number", "minimum": \#(ExperimentRule.percents.lowerBound), "maximum": \#(ExperimentRule.percents.upperBound)},
                    "content": {"type": "object", "additionalProperties": true, "description": "By default the content of the delivery."}
                  }
                }
              },
              "decideAfterSeconds": {"type": "integer", "minimum": 1, "maximum": \#(ExperimentRule.decisionSeconds.upperBound),
                "description": "When the winner is decided at the latest, after the start. It is required if there is a rest."},
              \#(experimentRule)
            }
          },
          "Experiment": {
            "type": "object",
            "examples": [{"deliveryId": 100, "state": "decided", "metric": "clicks", "decideAfterSeconds": 14400, "early": true, "certaintyPercent": 95.0, "leastSample": 1000, "holdOutPercent": 0.0, "ifUndecided": "first", "winner": 2, "decidesAt": null, "decidedAt": "2026-11-30T08:00:00.000000Z", "decision": "surely the best by clicks", "countedAt": "2026-11-30T09:00:00.000000Z", "variants": [{"variant": 1, "label": "plain", "percent": 10.0, "messages": 5000, "sent": 4980, "received": 4100, "clicked": 250, "converted": 0, "againstFirst": null, "content": null}, {"variant": 2, "label": "emoji", "percent": 10.0, "messages": 5000, "sent": 4975, "received": 4120, "clicked": 400, "converted": 0, "againstFirst": "emoji: 8.04 %, plain: 5.02 %. The difference is 3.02 percentage points (interval: 1.52 to 4.52): emoji is better.", "content": {"ios": {"title": "Sale!"}}}], "rest": {"variant": null, "label": "rest", "percent": 80.0, "messages": 40000, "sent": 0, "received": 0, "clicked": 0, "converted": 0, "againstFirst": null, "content": null}}],
            "required": ["deliveryId", "state", "metric", "decideAfterSeconds", "early", "certaintyPercent", "leastSample", "holdOutPercent",
              "ifUndecided", "winner", "decidesAt", "decidedAt", "decision", "countedAt", "variants", "rest"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "state": {"enum": ["waiting", "running", "decided", "undecided"],
                "description": "waiting for the start; running; decided: it has a winner; undecided: its time is over, and a person may choose."},
              \#(experimentRule),
              "decideAfterSeconds": {"type": ["integer", "null"], "minimum": 1},
              "winner": {"type": ["integer", "null"], "minimum": 1, "maximum": 8, "description": "The number of the variant that the rest gets."},
              "decidesAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When it is decided at the latest; null before the start, and once it is decided."},
              "decidedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "decision": {"$ref": "#/components/schemas/TextOrNull", "description": "Why it was decided so, in words."},
              "countedAt": {"$ref": "#/components/schemas/TimeOrNull", "description": "When the results were counted."},
              "variants": {"type": "array", "items": {"$ref": "#/components/schemas/ExperimentVariant"}},
              "rest": {"oneOf": [{"$ref": "#/components/schemas/ExperimentVariant"}, {"type": "null"}]}
            }
          },
          "ExperimentVariant": {
            "type": "object",
            "required": ["variant", "label", "percent", "messages", "sent", "received", "clicked", "converted", "againstFirst", "content"],
            "properties": {
              "variant": {"type": ["integer", "null"], "minimum": 1, "maximum": 8, "description": "Its number; null for the rest."},
              "label": {"type": "string"},
              "percent": {"type": "number", "minimum": 0, "maximum": 100},
              "messages": {"type": "integer", "minimum": 0, "description": "Its messages, once the delivery is prepared."},
              "sent": {"type": "integer", "minimum": 0},
              "received": {"type": "integer", "minimum": 0, "description": "Messages that devices have received, each counted once."},
              "clicked": {"type": "integer", "minimum": 0},
              "converted": {"type": "integer", "minimum": 0},
              "againstFirst": {"$ref": "#/components/schemas/TextOrNull", "description": "The conclusion in comparison with the first variant, in words."},
              "content": {"type": ["object", "null"], "additionalProperties": true, "description": "null for the content of the delivery."}
            }
          },
          "Winner": {
            "type": "object",
            "examples": [{"variant": 2}],
            "required": ["variant"],
            "additionalProperties": false,
            "properties": {"variant": {"type": "integer", "minimum": 1, "maximum": 8, "description": "The number of the variant."}}
          },
          "NewConversion": {
            "type": "object",
            "examples": [{"messageId": "3f8a1c52-9d07-4a8e-b1c4-5d2f7e60a913", "name": "purchase", "value": 49.9}],
            "required": ["messageId"],
            "additionalProperties": false,
            "properties": {
              "messageId": \#(APIText.messageID.schema(mayBeEmpty: false, "The id as the app gets it (_mId), or any other that findMessages takes.")),
              "name": \#(APIText.conversion.schema(mayBeEmpty: false, "What the person did. By default conversion.")),
              "value": {"type": "number", "minimum": -1000000000000, "maximum": 1000000000000, "description": "Such as the amount of an order; kept with four decimals."},
              "deliveryId": {"$ref": "#/components/schemas/Id", "description": "The delivery of the message. A number as _mId may belong to messages of several."}
            }
          },
          "Conversion": {
            "type": "object",
            "examples": [{"counts": true}],
            "required": ["counts"],
            "properties": {"counts": {"type": "boolean", "description": "Whether it is the first of its name for the message. It is false, too, if the message has ten, and if its person was forgotten."}}
          }
        }
        """#
}
