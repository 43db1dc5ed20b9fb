extension OpenAPISchemas {
    static let deliveries = #"""
        {
          "NewDelivery": {
            "type": "object",
            "required": ["label", "applications", "content"],
            "additionalProperties": false,
            "properties": {
              "label": {"type": "string", "minLength": 1, "maxLength": 500, "description": "Not blank, without line breaks and control characters."},
              "kind": {"enum": ["batch", "continuous"], "default": "batch"},
              "applications": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Their names."},
              "content": {"type": "object", "additionalProperties": true,
                "description": "What its messages say, such as {\"ios\": {\"title\": \"Hello\"}, \"android\": {\"title\": \"Hello\"}}; pushmta content schema prints its schema."},
              "explicitTargets": {"type": "boolean", "default": false, "description": "It goes to those that addTargets adds."},
              "filter": {"type": "string", "maxLength": 65536, "description": "Whom of the subscribers it goes to."},
              "exclude": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Names of exclusion lists."},
              "onePerUser": {"type": "boolean", "default": false},
              "priority": {"type": "integer", "minimum": -100, "maximum": 100, "default": 0, "description": "Greater goes first."},
              "validitySeconds": {"type": "integer", "minimum": 1, "maximum": 311040000, "default": 432000},
              "ambiguityPolicy": {"enum": ["resend", "report"], "default": "resend",
                "description": "What becomes of a message of which nobody knows whether it was sent."},
              "maxRetries": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 5},
              "retryPeriodSeconds": {"type": "integer", "minimum": 1, "maximum": 31536000, "default": 60}
            }
          },
          "Start": {
            "type": "object",
            "additionalProperties": false,
            "properties": {"startAt": {"type": "string", "format": "date-time"}}
          },
          "DeliveryState": {"enum": ["editing", "pending", "preparing", "in_progress", "paused", "finished", "failed", "stopped"]},
          "Counts": {
            "type": "object",
            "description": "target is the sum of the others but excluded.",
            "required": ["target", "pending", "sent", "failed", "ignored", "notApplicable", "canceled", "unknown", "excluded"],
            "properties": {
              "target": {"type": "integer", "minimum": 0},
              "pending": {"type": "integer", "minimum": 0},
              "sent": {"type": "integer", "minimum": 0},
              "failed": {"type": "integer", "minimum": 0},
              "ignored": {"type": "integer", "minimum": 0},
              "notApplicable": {"type": "integer", "minimum": 0},
              "canceled": {"type": "integer", "minimum": 0},
              "unknown": {"type": "integer", "minimum": 0},
              "excluded": {"type": "integer", "minimum": 0, "description": "People who were left out at preparation."}
            }
          },
          "Delivery": {
            "type": "object",
            "required": ["id", "label", "kind", "parentId", "state", "stateReason", "applications", "priority", "counts", "prepared",
              "createdAt", "startAt", "startedAt", "finishedAt", "validUntil", "asOf"],
            "properties": {
              "id": {"$ref": "#/components/schemas/Id"},
              "label": {"type": "string"},
              "kind": {"enum": ["batch", "continuous"]},
              "parentId": {"type": ["integer", "null"], "description": "The delivery that it is a day or a proof of."},
              "state": {"$ref": "#/components/schemas/DeliveryState"},
              "stateReason": {"$ref": "#/components/schemas/TextOrNull"},
              "applications": {"type": "array", "items": {"type": "string"}},
              "priority": {"type": "integer"},
              "counts": {"$ref": "#/components/schemas/Counts"},
              "prepared": {"type": "boolean", "description": "Whether all of its messages are made."},
              "createdAt": {"$ref": "#/components/schemas/Time"},
              "startAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "startedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "finishedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "validUntil": {"$ref": "#/components/schemas/TimeOrNull"},
              "asOf": {"$ref": "#/components/schemas/Time", "description": "The moment of the counts."}
            }
          },
          "DeliveryList": {
            "type": "object",
            "required": ["deliveries", "next"],
            "properties": {
              "deliveries": {"type": "array", "items": {"$ref": "#/components/schemas/Delivery"}},
              "next": {"type": ["integer", "null"], "description": "The parameter before of the following page."}
            }
          },
          "NewTargets": {
            "type": "object",
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
              "userKey": {"type": "string", "minLength": 1, "maxLength": 1000},
              "pushToken": {"type": "string", "minLength": 1, "maxLength": 2000},
              "variables": {"type": "object", "additionalProperties": true, "description": "Values for the fields of the content."}
            }
          },
          "AddedTargets": {
            "type": "object",
            "required": ["added"],
            "properties": {"added": {"type": "integer", "minimum": 1}}
          }
        }
        """#
}
