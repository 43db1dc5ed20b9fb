/// The schemas of saved audiences and control groups.
extension OpenAPISchemas {
    static let audiences = #"""
        {
          "NewAudience": {
            "type": "object",
            "examples": [{"filter": "recipient.city = 'Lyon'"}],
            "required": ["filter"],
            "additionalProperties": false,
            "properties": {"filter": \#(APIText.filter.schema(mayBeEmpty: false, "Selects the subscribers."))}
          },
          "Audience": {
            "type": "object",
            "examples": [{"name": "lyon", "filter": "recipient.city = 'Lyon'", "madeBy": "API key shop", "createdAt": "2026-11-24T18:00:00.000000Z", "changedBy": "API key shop", "changedAt": "2026-11-24T18:00:00.000000Z", "subscriptions": 1200, "excluded": 31, "estimate": false, "margin": null, "problem": null, "countedAt": "2026-11-24T18:00:10.000000Z", "counting": false}],
            "required": ["name", "filter", "madeBy", "createdAt", "changedBy", "changedAt", "subscriptions", "excluded", "estimate", "margin", "problem", "countedAt", "counting"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "filter": {"type": "string", "minLength": 1},
              "madeBy": {"type": "string", "description": "A login, an API key or a user of the console."},
              "createdAt": {"type": "string", "format": "date-time"},
              "changedBy": {"type": "string"},
              "changedAt": {"type": "string", "format": "date-time"},
              "subscriptions": {"type": ["integer", "null"], "minimum": 0, "description": "Those that would get a message, at the last count."},
              "excluded": {"type": ["integer", "null"], "minimum": 0, "description": "Those that the filter selects and that get none."},
              "estimate": {"type": "boolean"},
              "margin": {"type": ["integer", "null"], "minimum": 0, "description": "The error of an estimate, at 95 % confidence."},
              "problem": {"$ref": "#/components/schemas/TextOrNull", "description": "Why the last count failed."},
              "countedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "counting": {"type": "boolean", "description": "Whether a supervisor is asked to count it."}
            }
          },
          "AudienceList": {
            "type": "object",
            "examples": [{"audiences": []}],
            "required": ["audiences"],
            "properties": {"audiences": {"type": "array", "items": {"$ref": "#/components/schemas/Audience"}}}
          },
          "AudienceSample": {
            "type": "object",
            "examples": [{"subscriptions": [{"id": 7, "application": "shop-ios", "platform": "ios", "locale": "fr_FR", "registeredAt": "2026-11-24T18:00:00.000000Z"}]}],
            "required": ["subscriptions"],
            "properties": {"subscriptions": {"type": "array", "items": {
              "type": "object",
              "required": ["id", "application", "platform", "locale", "registeredAt"],
              "properties": {
                "id": {"$ref": "#/components/schemas/Id"},
                "application": {"type": "string", "minLength": 1},
                "platform": {"enum": ["ios", "android"]},
                "locale": {"$ref": "#/components/schemas/TextOrNull"},
                "registeredAt": {"type": "string", "format": "date-time"}
              }
            }}}
          },
          "NewControlGroup": {
            "type": "object",
            "examples": [{"percent": 5}],
            "required": ["percent"],
            "additionalProperties": false,
            "properties": {
              "percent": {"type": "number", "minimum": \#(ControlGroupRoutes.percents.lowerBound), "maximum": \#(ControlGroupRoutes.percents.upperBound), "description": "With at most two decimals; 0 ends the group."},
              "categories": {"type": "array", "minItems": 1, "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.category.schema()),
                "description": "The categories that members do not get. By default all that are not transactional."}
            }
          },
          "ControlGroup": {
            "type": "object",
            "examples": [{"percent": 5.0, "categories": null, "since": "2026-11-01T08:00:00.000000Z", "persons": 200000, "members": 10043, "countedAt": "2026-11-29T08:00:00.000000Z", "results": [{"name": "order", "since": "2026-11-01T08:00:00.000000Z", "members": 9011, "convertedMembers": 370, "others": 171200, "convertedOthers": 8560, "difference": "With marketing: 5.00 %, control group: 4.11 %. The difference is 0.89 percentage points (interval: 0.17 to 1.61): With marketing is better."}]}],
            "required": ["percent", "categories", "since", "persons", "members", "countedAt", "results"],
            "properties": {
              "percent": {"type": "number", "minimum": 0, "maximum": 50, "description": "0: there is none."},
              "categories": {"type": ["array", "null"], "items": {"type": "string"}, "description": "null: all that are not transactional."},
              "since": {"$ref": "#/components/schemas/TimeOrNull", "description": "When the share or the categories last changed."},
              "persons": {"type": ["integer", "null"], "minimum": 0, "description": "Those who may get messages, as counted within the last hour; null until they are counted."},
              "members": {"type": ["integer", "null"], "minimum": 0},
              "countedAt": {"$ref": "#/components/schemas/TimeOrNull"},
              "results": {"type": "array", "items": {
                "type": "object",
                "required": ["name", "since", "members", "convertedMembers", "others", "convertedOthers", "difference"],
                "properties": {
                  "name": {"type": "string", "minLength": 1, "description": "What users did."},
                  "since": {"type": "string", "format": "date-time"},
                  "members": {"type": ["integer", "null"], "minimum": 0, "description": "Users in the group: persons with a user key."},
                  "convertedMembers": {"type": "integer", "minimum": 0},
                  "others": {"type": ["integer", "null"], "minimum": 0},
                  "convertedOthers": {"type": "integer", "minimum": 0},
                  "difference": {"type": "string", "description": "The conclusion, in words."}
                }
              }}
            }
          },
          "NewUserConversion": {
            "type": "object",
            "examples": [{"userKey": "a1b2", "name": "order", "value": 49.9}],
            "required": ["userKey"],
            "additionalProperties": false,
            "properties": {
              "userKey": \#(APIText.userKey.schema(mayBeEmpty: false, "The user, as devices register the key.")),
              "name": \#(APIText.conversion.schema(mayBeEmpty: false, "What the user did. By default conversion.")),
              "value": {"type": "number", "minimum": -1000000000000, "maximum": 1000000000000, "description": "Such as the amount of an order; kept with four decimals."}
            }
          },
          "UserConversion": {
            "type": "object",
            "examples": [{"counts": true}],
            "required": ["counts"],
            "properties": {"counts": {"type": "boolean", "description": "Whether it counts: false for a user without a subscription, for a second one of the day, and if the service has no control group."}}
          }
        }
        """#
}
