/// The schemas of the OpenAPI document: JSON Schema 2020-12.
enum OpenAPISchemas {
    /// What several answers have in common, and applications.
    static let common = #"""
        {
          "Document": {"type": "object", "required": ["openapi", "info", "paths"], "additionalProperties": true},
          "Problem": {
            "type": "object",
            "required": ["type", "title", "status", "code", "detail", "remedy", "requestId"],
            "properties": {
              "type": {"type": "string", "format": "uri"},
              "title": {"type": "string"},
              "status": {"type": "integer", "minimum": 400, "maximum": 599},
              "code": {"enum": ["malformed_request", "invalid_value", "unauthenticated", "missing_scope", "not_found", "method_not_allowed",
                "conflict", "too_large", "too_many_requests", "unsupported_media_type", "internal_error", "unavailable", "result_unknown"]},
              "detail": {"type": "string", "description": "What happened, to which thing, and why."},
              "remedy": {"type": "string", "description": "What to do."},
              "requestId": {"type": "string", "description": "Names the request in the server's log."},
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
            "required": ["name", "label", "service", "platform", "environment", "integrationKey", "bundleId", "hasCredential", "circuit",
              "circuitReason"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "label": {"type": "string"},
              "service": {"type": "string"},
              "platform": {"$ref": "#/components/schemas/Platform"},
              "environment": {"enum": ["sandbox", "production"]},
              "integrationKey": {"type": "string", "description": "What its devices name it by when they register."},
              "bundleId": {"$ref": "#/components/schemas/TextOrNull"},
              "hasCredential": {"type": "boolean", "description": "Whether there is one; nobody can read it."},
              "circuit": {"enum": ["closed", "open", "probing"], "description": "closed: its messages are sent."},
              "circuitReason": {"$ref": "#/components/schemas/TextOrNull"}
            }
          },
          "ApplicationList": {
            "type": "object",
            "required": ["applications"],
            "properties": {"applications": {"type": "array", "items": {"$ref": "#/components/schemas/Application"}}}
          }
        }
        """#

    static let devices = #"""
        {
          "NewDevice": {
            "type": "object",
            "required": ["application", "pushToken"],
            "additionalProperties": false,
            "properties": {
              "application": {"type": "string", "maxLength": 1000, "description": "The name of the application."},
              "pushToken": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The token that the gateway knows."},
              "userKey": {"type": "string", "maxLength": 1000, "description": "Whose device it is."},
              "deviceId": {"type": "string", "maxLength": 1000,
                "description": "Which device it is, the same when its token is renewed: the old token is disabled then. One that many devices have, as 000000000000000, is taken for none."},
              "locale": {"type": "string", "maxLength": 64, "description": "A language tag such as fr-CA."},
              "timeZone": {"type": "string", "maxLength": 64, "description": "A name such as Europe/Paris."},
              "device": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 8192},
                "description": "What describes the device."},
              "parameters": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 8192},
                "description": "The app's own values, in the place of those before, which stay if this is left out; those that the application declares go where it says."}
            }
          },
          "Device": {
            "type": "object",
            "required": ["id", "application", "platform", "pushToken", "userKey", "deviceId", "enabled", "optedOut", "disabledReason",
              "disabledAt", "quarantineStatus", "locale", "timeZone", "device", "parameters", "recipient", "registeredAt", "createdAt"],
            "properties": {
              "id": {"$ref": "#/components/schemas/Id", "description": "Never used again; the subscription_id of the database."},
              "application": {"type": "string"},
              "platform": {"$ref": "#/components/schemas/Platform"},
              "pushToken": {"type": "string"},
              "userKey": {"$ref": "#/components/schemas/TextOrNull"},
              "deviceId": {"$ref": "#/components/schemas/TextOrNull"},
              "enabled": {"type": "boolean", "description": "Whether it is sent to, as far as it is not in quarantine."},
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
          "DeviceList": {
            "type": "object",
            "required": ["devices"],
            "properties": {"devices": {"type": "array", "items": {"$ref": "#/components/schemas/Device"}}}
          }
        }
        """#
}
