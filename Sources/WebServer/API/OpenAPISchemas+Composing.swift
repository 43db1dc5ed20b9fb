/// Seed addresses, exclusion lists and templates.
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
              "name": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
                "description": "Unique, at most 200 bytes; no number, not blank, without a comma."},
              "label": {"type": "string", "maxLength": 500,
                "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$", "description": "Whose it is."},
              "application": {"type": "string", "minLength": 1, "maxLength": 1000, "pattern": "^[^\\u0000]*$",
                "description": "The name of its application; a deviceId needs none."},
              "deviceId": {"$ref": "#/components/schemas/Id"},
              "userKey": {"type": "string", "minLength": 1, "maxLength": 1000, "pattern": "^[^\\u0000]*$",
                "description": "The device that this user registered last."},
              "pushToken": {"type": "string", "minLength": 1, "maxLength": 2000, "pattern": "^[^\\u0000]*$",
                "description": "A token of the application; it is never given back."},
              "variables": {"type": "object", "additionalProperties": true,
                "description": "Values for the fields of what is sent to it; without it those that its device has."},
              "locale": {"type": "string", "maxLength": 64, "pattern": "^([A-Za-z][A-Za-z0-9_@=;.-]{0,63})?$",
                "description": "The language of a token that is no subscriber's."}
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
              "seedOnly": {"type": "boolean", "description": "Its device is no subscriber's: deliveries leave it out."},
              "problem": {"$ref": "#/components/schemas/TextOrNull", "description": "Why it gets nothing, such as opted_out; null if it gets proofs."}
            }
          },
          "SeedList": {
            "type": "object",
            "examples": [{"seeds": [{"name": "ada-phone", "label": "Ada's phone", "application": "shop-android", "platform": "android", "deviceId": 70, "locale": "fr", "variables": {"name": "Ada"}, "seedOnly": true, "problem": null}], "next": null}],
            "required": ["seeds", "next"],
            "properties": {
              "seeds": {"type": "array", "items": {"$ref": "#/components/schemas/Seed"}},
              "next": {"type": ["string", "null"], "description": "The parameter after of the following page."}
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
              "name": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
                "description": "Unique, at most 200 bytes; not blank."},
              "label": {"type": "string", "maxLength": 500,
                "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$"}
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
                "description": "Who is on it. Where it says 1000, that many or more.",
                "required": ["userKeys", "devices", "pushTokens"],
                "properties": {
                  "userKeys": {"type": "integer", "minimum": 0, "maximum": 1000},
                  "devices": {"type": "integer", "minimum": 0, "maximum": 1000},
                  "pushTokens": {"type": "integer", "minimum": 0, "maximum": 1000}
                }
              },
              "used": {"type": "boolean", "description": "A delivery has it, so that it cannot be deleted."},
              "changedAt": {"$ref": "#/components/schemas/Time"}
            }
          },
          "ExclusionLists": {
            "type": "object",
            "examples": [{"exclusionLists": [{"name": "complaints", "label": "", "counts": {"userKeys": 3, "devices": 0, "pushTokens": 1}, "used": false, "changedAt": "2026-11-24T18:00:00.000000Z"}], "next": null}],
            "required": ["exclusionLists", "next"],
            "properties": {
              "exclusionLists": {"type": "array", "items": {"$ref": "#/components/schemas/ExclusionList"}},
              "next": {"type": ["string", "null"], "description": "The parameter after of the following page."}
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
              "userKey": {"type": "string", "minLength": 1, "maxLength": 1000, "pattern": "^[^\\u0000]*$"},
              "pushToken": {"type": "string", "minLength": 1, "maxLength": 2000, "pattern": "^[^\\u0000]*$"}
            }
          },
          "ExclusionChange": {
            "type": "object",
            "examples": [{"changed": 2}],
            "required": ["changed"],
            "properties": {"changed": {"type": "integer", "minimum": 0, "description": "How many were new on it, or were on it."}}
          },
          "FoundExclusions": {
            "type": "object",
            "examples": [{"found": [true, false]}],
            "required": ["found"],
            "properties": {
              "found": {"type": "array", "items": {"type": "boolean"}, "description": "Of each addressee, in their order."}
            }
          }
        }
        """#

    static let templates = #"""
        {
          "TemplateSettings": {
            "type": "object",
            "description": "What is left out is as createDelivery has it.",
            "examples": [{"validitySeconds": 86400, "onePerUser": true}],
            "additionalProperties": false,
            "properties": {
              "priority": {"type": "integer", "minimum": -100, "maximum": 100, "description": "Greater goes first."},
              "weight": {"type": "integer", "minimum": 1, "maximum": 10, "description": "Its share among deliveries of the same priority."},
              "validitySeconds": {"type": "integer", "minimum": 1, "maximum": 311040000},
              "onePerUser": {"type": "boolean"},
              "explicitTargets": {"type": "boolean", "description": "Its deliveries go to those that addTargets adds."},
              "allSeeds": {"type": "boolean", "description": "Its deliveries go to all seed addresses of their applications, too."},
              "ambiguityPolicy": {"enum": ["resend", "report"],
                "description": "What becomes of a message of which nobody knows whether it was sent."},
              "maxRetries": {"type": "integer", "minimum": 0, "maximum": 1000},
              "retrySchedule": {"enum": ["default", "daily", "exponential"], "description": "As in NewDelivery."},
              "retryPeriodSeconds": {"type": "integer", "minimum": 1, "maximum": 31536000,
                "description": "Seconds before the first retry."},
              "messagesPerSecond": {"type": "number", "minimum": 0.001, "maximum": 1000000,
                "description": "So many messages leave a second at most, on all hosts together."}
            }
          },
          "TemplateBody": {
            "type": "object",
            "examples": [{"label": "Sale", "content": {"android": {"title": "Sale"}}, "settings": {"validitySeconds": 86400, "onePerUser": true}, "applications": ["shop-android"], "filter": "recipient.city = 'Lyon'", "exclude": ["complaints"]}],
            "required": ["content"],
            "additionalProperties": false,
            "properties": {
              "label": {"type": "string", "maxLength": 500,
                "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$", "description": "What it is for."},
              "content": {"type": "object", "additionalProperties": true,
                "description": "What its deliveries say, as far as it is known; pushmta content schema prints the schema of contents."},
              "settings": {"$ref": "#/components/schemas/TemplateSettings"},
              "applications": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Names of the applications that its deliveries go to."},
              "filter": {"type": "string", "maxLength": 65536, "description": "Whom of the subscribers they go to; empty: all."},
              "exclude": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Names of exclusion lists."}
            }
          },
          "NewTemplate": {
            "type": "object",
            "examples": [{"name": "sale", "label": "Sale", "content": {"android": {"title": "Sale"}}, "settings": {"validitySeconds": 86400, "onePerUser": true}, "applications": ["shop-android"], "filter": "recipient.city = 'Lyon'", "exclude": ["complaints"]}],
            "required": ["name", "content"],
            "additionalProperties": false,
            "properties": {
              "name": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
                "description": "Unique, at most 200 bytes; not blank."},
              "label": {"type": "string", "maxLength": 500,
                "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$", "description": "What it is for."},
              "content": {"type": "object", "additionalProperties": true,
                "description": "What its deliveries say, as far as it is known; pushmta content schema prints the schema of contents."},
              "settings": {"$ref": "#/components/schemas/TemplateSettings"},
              "applications": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Names of the applications that its deliveries go to."},
              "filter": {"type": "string", "maxLength": 65536, "description": "Whom of the subscribers they go to; empty: all."},
              "exclude": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Names of exclusion lists."}
            }
          },
          "TemplateCopy": {
            "type": "object",
            "examples": [{"name": "sale-ios", "applications": ["shop-ios"], "filter": ""}],
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
              "name": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
                "description": "Unique, at most 200 bytes; not blank."},
              "label": {"type": "string", "maxLength": 500,
                "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$"},
              "applications": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Names of applications; without it those of the original."},
              "filter": {"type": "string", "maxLength": 65536, "description": "Whom of the subscribers they go to; empty: all."},
              "exclude": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
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
              "services": {"type": "array", "items": {"type": "string"}, "description": "Those of its applications."},
              "readyMade": {"type": "boolean", "description": "It came with the product: it is duplicated, and neither replaced nor deleted."},
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
              "services": {"type": "array", "items": {"type": "string"}, "description": "Those of its applications."},
              "readyMade": {"type": "boolean", "description": "It came with the product: it is duplicated, and neither replaced nor deleted."},
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
              "next": {"type": ["string", "null"], "description": "The parameter after of the following page."}
            }
          },
          "DeliveryFromTemplate": {
            "type": "object",
            "examples": [{"label": "Sale in May", "content": {"android": {"body": "From today"}}}],
            "required": ["label"],
            "additionalProperties": false,
            "properties": {
              "label": {"type": "string", "minLength": 1, "maxLength": 500,
                "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$", "description": "Not blank, without line breaks and control characters."},
              "kind": {"enum": ["batch", "continuous"], "default": "batch", "description": "continuous: the template's target is left out."},
              "content": {"type": "object", "additionalProperties": true, "description": "Merged into the template's; null takes a key away."},
              "oneTimeCode": {"type": "boolean", "default": false, "description": "As in NewDelivery."},
              "applications": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Names of applications; without it those of the template."},
              "filter": {"type": "string", "maxLength": 65536, "description": "Whom of the subscribers they go to; empty: all."},
              "exclude": {"type": "array", "maxItems": 1000, "items": {"type": "string", "maxLength": 1000},
                "description": "Names of exclusion lists."},
              "priority": {"type": "integer", "minimum": -100, "maximum": 100, "description": "Greater goes first."},
              "validitySeconds": {"type": "integer", "minimum": 1, "maximum": 311040000},
              "onePerUser": {"type": "boolean"},
              "explicitTargets": {"type": "boolean", "description": "It goes to those that addTargets adds."},
              "ambiguityPolicy": {"enum": ["resend", "report"],
                "description": "What becomes of a message of which nobody knows whether it was sent."},
              "maxRetries": {"type": "integer", "minimum": 0, "maximum": 1000},
              "retrySchedule": {"enum": ["default", "daily", "exponential"], "description": "As in NewDelivery."},
              "retryPeriodSeconds": {"type": "integer", "minimum": 1, "maximum": 31536000,
                "description": "Seconds before the first retry."},
              "messagesPerSecond": {"type": "number", "minimum": 0.001, "maximum": 1000000,
                "description": "So many messages leave a second at most, on all hosts together."}
            }
          }
        }
        """#
}
