import PushCore

/// The schemas of seed addresses, exclusion lists and templates.
extension OpenAPISchemas {
    static let seeds = #"""
        {
          "NewSeed": {
            "type": "object",
            "examples": [{"name": "ada-phone", "label": "Ada's phone", "application": "shop-android", "pushToken": "fGciOiJIUzI1NiJ9:APA91bHun4MxP5egoKMwt2KZFBaFUH", "variables": {"name": "Ada"}, "locale": "fr"}],
            "required": ["name"],
            "additionalProperties": false,
            "oneOf": [{"required": ["deviceId"]}, {"required": ["userKey"]}, {"required": ["pushToken"]}],
            "properties": {
              "name": \#(APIText.newName.schema(mayBeEmpty: false, "Unique, at most 200 bytes, not blank, not a number, without a comma.")),
              "label": \#(APIText.label.schema("The owner or purpose of the address.")),
              "application": \#(APIText.name.schema(mayBeEmpty: false, "The name of its application; not needed with a deviceId.")),
              "deviceId": {"$ref": "#/components/schemas/Id"},
              "userKey": \#(APIText.userKey.schema(mayBeEmpty: false, "The device that this user registered last.")),
              "pushToken": \#(APIText.pushToken.schema(mayBeEmpty: false, "A token of the application; it is never returned.")),
              "variables": {"type": "object", "additionalProperties": true,
                "description": "Values for the fields of the content; by default the device's."},
              "locale": \#(APIText.seedLocale.schema("The language of a token that is not a subscriber's."))
            }
          },
          "Seed": {
            "type": "object",
            "examples": [{"name": "ada-phone", "label": "Ada's phone", "application": "shop-android", "platform": "android", "deviceId": 70, "locale": "fr", "variables": {"name": "Ada"}, "seedOnly": true, "problem": null}],
            "required": ["name", "label", "application", "platform", "deviceId", "locale", "variables", "seedOnly", "problem"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "label": {"type": "string"},
              "application": {"type": "string"},
              "platform": {"$ref": "#/components/schemas/Platform"},
              "deviceId": {"$ref": "#/components/schemas/Id"},
              "locale": {"$ref": "#/components/schemas/TextOrNull"},
              "variables": {"type": "object", "additionalProperties": true},
              "seedOnly": {"type": "boolean", "description": "Whether its device is not a subscriber's; deliveries then omit it."},
              "problem": {"$ref": "#/components/schemas/TextOrNull", "description": "Why it gets no messages, such as opted_out; null if it gets proofs."}
            }
          },
          "SeedList": {
            "type": "object",
            "examples": [{"seeds": [{"name": "ada-phone", "label": "Ada's phone", "application": "shop-android", "platform": "android", "deviceId": 70, "locale": "fr", "variables": {"name": "Ada"}, "seedOnly": true, "problem": null}], "next": null}],
            "required": ["seeds", "next"],
            "properties": {
              "seeds": {"type": "array", "items": {"$ref": "#/components/schemas/Seed"}},
              "next": {"type": ["string", "null"], "description": "The value of after for the following page."}
            }
          }
        }
        """#

    static let exclusions = #"""
        {
          "NewExclusionList": {
            "type": "object",
            "examples": [{"name": "complaints", "label": "People who complained"}],
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
              "name": \#(APIText.newName.schema(mayBeEmpty: false, "Unique, at most 200 bytes; not blank.")),
              "label": \#(APIText.label.schema())
            }
          },
          "ExclusionList": {
            "type": "object",
            "examples": [{"name": "complaints", "label": "", "counts": {"userKeys": 3, "devices": 0, "pushTokens": 1}, "used": false, "changedAt": "2026-11-24T18:00:00.000000Z"}],
            "required": ["name", "label", "counts", "used", "changedAt"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "label": {"type": "string"},
              "counts": {
                "type": "object",
                "description": "The number of entries. 1000 means 1000 or more.",
                "required": ["userKeys", "devices", "pushTokens"],
                "properties": {
                  "userKeys": {"type": "integer", "minimum": 0, "maximum": 1000},
                  "devices": {"type": "integer", "minimum": 0, "maximum": 1000},
                  "pushTokens": {"type": "integer", "minimum": 0, "maximum": 1000}
                }
              },
              "used": {"type": "boolean", "description": "Whether a delivery uses it, so that it cannot be deleted."},
              "changedAt": {"$ref": "#/components/schemas/Time"}
            }
          },
          "ExclusionLists": {
            "type": "object",
            "examples": [{"exclusionLists": [{"name": "complaints", "label": "", "counts": {"userKeys": 3, "devices": 0, "pushTokens": 1}, "used": false, "changedAt": "2026-11-24T18:00:00.000000Z"}], "next": null}],
            "required": ["exclusionLists", "next"],
            "properties": {
              "exclusionLists": {"type": "array", "items": {"$ref": "#/components/schemas/ExclusionList"}},
              "next": {"type": ["string", "null"], "description": "The value of after for the following page."}
            }
          },
          "ListAddressees": {
            "type": "object",
            "examples": [{"addressees": [{"userKey": "ada@example.com"}, {"deviceId": 70}]}],
            "required": ["addressees"],
            "additionalProperties": false,
            "properties": {
              "addressees": {"type": "array", "minItems": 1, "maxItems": 10000, "items": {"$ref": "#/components/schemas/ListAddressee"}}
            }
          },
          "ListAddressee": {
            "type": "object",
            "additionalProperties": false,
            "oneOf": [{"required": ["deviceId"]}, {"required": ["userKey"]}, {"required": ["pushToken"]}],
            "properties": {
              "deviceId": {"$ref": "#/components/schemas/Id"},
              "userKey": \#(APIText.userKey.schema(mayBeEmpty: false)),
              "pushToken": \#(APIText.pushToken.schema(mayBeEmpty: false))
            }
          },
          "ExclusionChange": {
            "type": "object",
            "examples": [{"changed": 2}],
            "required": ["changed"],
            "properties": {"changed": {"type": "integer", "minimum": 0, "description": "The number of addressees added or removed."}}
          },
          "FoundExclusions": {
            "type": "object",
            "examples": [{"found": [true, false]}],
            "required": ["found"],
            "properties": {
              "found": {"type": "array", "items": {"type": "boolean"}, "description": "Whether each addressee is on the list, in their order."}
            }
          }
        }
        """#

    static let templates = #"""
        {
          "TemplateSettings": {
            "type": "object",
            "description": "Omitted members have the defaults of createDelivery.",
            "examples": [{"validitySeconds": 86400, "onePerUser": true}],
            "additionalProperties": false,
            "properties": {
              \#(DeliverySetting.openAPIProperties(DeliverySetting.allCases, showsDefaults: false))
            }
          },
          "TemplateBody": {
            "type": "object",
            "examples": [{"label": "Sale", "content": {"android": {"title": "Sale"}}, "settings": {"validitySeconds": 86400, "onePerUser": true}, "applications": ["shop-android"], "filter": "recipient.city = 'Lyon'", "exclude": ["complaints"]}],
            "required": ["content"],
            "additionalProperties": false,
            "properties": {
              "label": \#(APIText.label.schema("Its purpose.")),
              "content": {"type": "object", "additionalProperties": true,
                "description": "The content of its deliveries, which may be incomplete; pushmta content schema prints the schema of contents."},
              "settings": {"$ref": "#/components/schemas/TemplateSettings"},
              "applications": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of the applications that its deliveries are sent to."},
              "filter": \#(APIText.filter.schema("Selects the subscribers that they are sent to; empty for all.")),
              "exclude": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of exclusion lists."}
            }
          },
          "NewTemplate": {
            "type": "object",
            "examples": [{"name": "sale", "label": "Sale", "content": {"android": {"title": "Sale"}}, "settings": {"validitySeconds": 86400, "onePerUser": true}, "applications": ["shop-android"], "filter": "recipient.city = 'Lyon'", "exclude": ["complaints"]}],
            "required": ["name", "content"],
            "additionalProperties": false,
            "properties": {
              "name": \#(APIText.newName.schema(mayBeEmpty: false, "Unique, at most 200 bytes; not blank.")),
              "label": \#(APIText.label.schema("Its purpose.")),
              "content": {"type": "object", "additionalProperties": true,
                "description": "The content of its deliveries, which may be incomplete; pushmta content schema prints the schema of contents."},
              "settings": {"$ref": "#/components/schemas/TemplateSettings"},
              "applications": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of the applications that its deliveries are sent to."},
              "filter": \#(APIText.filter.schema("Selects the subscribers that they are sent to; empty for all.")),
              "exclude": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of exclusion lists."}
            }
          },
          "TemplateCopy": {
            "type": "object",
            "examples": [{"name": "sale-ios", "applications": ["shop-ios"], "filter": ""}],
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
              "name": \#(APIText.newName.schema(mayBeEmpty: false, "Unique, at most 200 bytes; not blank.")),
              "label": \#(APIText.label.schema()),
              "applications": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of applications; by default the original's."},
              "filter": \#(APIText.filter.schema("Selects the subscribers that they are sent to; empty for all.")),
              "exclude": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of exclusion lists."}
            }
          },
          "TemplateSummary": {
            "type": "object",
            "required": ["name", "label", "applications", "services", "readyMade", "changedAt"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "label": {"type": "string"},
              "applications": {"type": "array", "items": {"type": "string"}},
              "services": {"type": "array", "items": {"type": "string"}, "description": "The services of its applications."},
              "readyMade": {"type": "boolean", "description": "Whether it came with the product: it can be duplicated, but not replaced or deleted."},
              "changedAt": {"$ref": "#/components/schemas/Time"}
            }
          },
          "Template": {
            "type": "object",
            "examples": [{"name": "sale", "label": "Sale", "applications": ["shop-android"], "services": ["shop"], "readyMade": false, "changedAt": "2026-11-24T18:00:00.000000Z", "content": {"android": {"title": "Sale"}}, "settings": {"validitySeconds": 86400}, "filter": null, "exclude": ["complaints"]}],
            "required": ["name", "label", "applications", "services", "readyMade", "changedAt", "content", "settings", "filter", "exclude"],
            "properties": {
              "name": {"type": "string", "minLength": 1},
              "label": {"type": "string"},
              "applications": {"type": "array", "items": {"type": "string"}},
              "services": {"type": "array", "items": {"type": "string"}, "description": "The services of its applications."},
              "readyMade": {"type": "boolean", "description": "Whether it came with the product: it can be duplicated, but not replaced or deleted."},
              "changedAt": {"$ref": "#/components/schemas/Time"},
              "content": {"type": "object", "additionalProperties": true},
              "settings": {"$ref": "#/components/schemas/TemplateSettings"},
              "filter": {"$ref": "#/components/schemas/TextOrNull"},
              "exclude": {"type": "array", "items": {"type": "string"}}
            }
          },
          "TemplateList": {
            "type": "object",
            "examples": [{"templates": [{"name": "sale", "label": "Sale", "applications": ["shop-android"], "services": ["shop"], "readyMade": false, "changedAt": "2026-11-24T18:00:00.000000Z"}], "next": null}],
            "required": ["templates", "next"],
            "properties": {
              "templates": {"type": "array", "items": {"$ref": "#/components/schemas/TemplateSummary"}},
              "next": {"type": ["string", "null"], "description": "The value of after for the following page."}
            }
          },
          "DeliveryFromTemplate": {
            "type": "object",
            "examples": [{"label": "Sale in May", "content": {"android": {"body": "From today"}}}],
            "required": ["label"],
            "additionalProperties": false,
            "properties": {
              "label": \#(APIText.label.schema(mayBeEmpty: false, "Not blank, without line breaks and control characters.")),
              "kind": {"enum": ["batch", "continuous"], "default": "batch", "description": "continuous: the template's target is ignored."},
              "content": {"type": "object", "additionalProperties": true, "description": "Merged into the template's content; null removes a key."},
              "oneTimeCode": {"type": "boolean", "default": false, "description": "As in NewDelivery."},
              "applications": {"type": "array", "minItems": 1, "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of applications; by default the template's."},
              "filter": \#(APIText.filter.schema("Selects the subscribers that they are sent to; empty for all.")),
              "exclude": {"type": "array", "maxItems": \#(JSONReader.maxNames), "items": \#(APIText.name.schema()),
                "description": "Names of exclusion lists."},
              \#(DeliverySetting.openAPIProperties(DeliverySetting.ofDelivery, showsDefaults: false))
            }
          }
        }
        """#
}
