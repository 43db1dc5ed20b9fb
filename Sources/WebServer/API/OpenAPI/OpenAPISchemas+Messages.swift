extension OpenAPISchemas {
    static let messages = #"""
        {
          "MessageStatus": {"enum": ["pending", "sent", "failed", "ignored", "not_applicable", "canceled", "unknown"]},
          "HTTPStatusOrNull": {"type": ["integer", "null"], "minimum": 100, "maximum": 999},
          "Outcome": {
            "type": "object",
            "required": ["sequence", "deviceId", "status", "httpStatus", "reason", "failureType", "failureReason", "gatewayMessageId",
              "attempt", "loggedAt", "received", "clicked"],
            "properties": {
              "sequence": {"type": "integer", "minimum": 1, "description": "The message's number in its delivery; it never changes."},
              "deviceId": {"type": "integer", "description": "0 for a target that no device was found for."},
              "status": {"$ref": "#/components/schemas/MessageStatus"},
              "httpStatus": {"$ref": "#/components/schemas/HTTPStatusOrNull"},
              "reason": {"$ref": "#/components/schemas/TextOrNull"},
              "failureType": {"enum": ["ignored", "soft", "hard", null]},
              "failureReason": {"$ref": "#/components/schemas/TextOrNull"},
              "gatewayMessageId": {"$ref": "#/components/schemas/TextOrNull"},
              "attempt": {"type": "integer", "minimum": 0},
              "loggedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "received": {"type": "boolean"},
              "clicked": {"type": "boolean"}
            }
          },
          "OutcomePage": {
            "type": "object",
            "required": ["deliveryId", "after", "through", "final", "next", "outcomes"],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id"},
              "after": {"type": "integer", "minimum": 0},
              "through": {"type": "integer", "minimum": 0, "description": "The page is about the numbers above after and up to this."},
              "final": {"type": "boolean", "description": "Whether every message of the page has its outcome."},
              "next": {"type": ["integer", "null"], "description": "The parameter after of the following page."},
              "outcomes": {"type": "array", "items": {"$ref": "#/components/schemas/Outcome"}}
            }
          },
          "NewMessage": {
            "type": "object",
            "required": ["deliveryId"],
            "additionalProperties": false,
            "oneOf": [{"required": ["deviceId"]}, {"required": ["userKey"]}, {"required": ["pushToken"]}],
            "properties": {
              "deliveryId": {"$ref": "#/components/schemas/Id", "description": "A continuous delivery that was started."},
              "deviceId": {"$ref": "#/components/schemas/Id"},
              "userKey": {"type": "string", "minLength": 1, "maxLength": 1000},
              "pushToken": {"type": "string", "minLength": 1, "maxLength": 2000},
              "variables": {"type": "object", "additionalProperties": true, "description": "Values for the fields of the content."}
            }
          },
          "SentMessages": {
            "type": "object",
            "required": ["repeated", "messages"],
            "properties": {
              "repeated": {"type": "boolean", "description": "The key was there before: nothing was sent now."},
              "messages": {
                "type": "array",
                "minItems": 1,
                "items": {
                  "type": "object",
                  "required": ["id", "deliveryId", "sequence", "deviceId"],
                  "properties": {
                    "id": {"type": "string"},
                    "deliveryId": {"$ref": "#/components/schemas/Id", "description": "The day of the continuous delivery."},
                    "sequence": {"type": "integer", "minimum": 1},
                    "deviceId": {"$ref": "#/components/schemas/Id"}
                  }
                }
              }
            }
          },
          "Message": {
            "type": "object",
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
              "clicked": {"type": "boolean"}
            }
          }
        }
        """#
}
