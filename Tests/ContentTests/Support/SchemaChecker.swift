import Foundation

@testable import Content
@testable import PushCore

/// Checks values against a JSON Schema. It supports the keywords that the content's schema uses; any other keyword is
/// an error.
struct SchemaChecker {
    struct UnknownKeyword: Error { let name: String }

    let root: JSONValue

    func accepts(_ value: JSONValue, _ schema: JSONValue? = nil) throws -> Bool {
        guard case .object(let entries) = schema ?? root else { return schema != .boolean(false) }
        for entry in entries where try !accepts(value, entry.name, entry.value, schema ?? root) { return false }
        return true
    }

    private func accepts(_ value: JSONValue, _ keyword: String, _ rule: JSONValue, _ schema: JSONValue) throws -> Bool {
        switch keyword {
        case "$schema", "$id", "$defs", "$comment", "title", "description": return true
        case "$ref":
            return try accepts(value, root["$defs"]?[String(rule.text.dropFirst("#/$defs/".count))] ?? .boolean(false))
        case "type": return elements(rule).contains { isOf(value, $0.text) } || isOf(value, rule.text)
        case "enum": return elements(rule).contains(value)
        case "const": return value == rule
        case "if": return try !accepts(value, rule) || accepts(value, schema["then"] ?? .boolean(true))
        case "then": return true
        case "anyOf": return try elements(rule).contains { try accepts(value, $0) }
        case "allOf": return try elements(rule).allSatisfy { try accepts(value, $0) }
        case "required": return elements(rule).allSatisfy { value[$0.text] != nil } || !value.isObject
        case "properties":
            return try entries(value).allSatisfy { try accepts($0.value, rule[$0.name] ?? .boolean(true)) }
        case "additionalProperties":
            let known = schema["properties"] ?? .object([])
            return try entries(value).allSatisfy { try known[$0.name] != nil || accepts($0.value, rule) }
        case "propertyNames": return try entries(value).allSatisfy { try accepts(.string($0.name), rule) }
        case "items": return try elements(value).allSatisfy { try accepts($0, rule) }
        case "minItems", "maxItems":
            // As "pattern" below.
            guard case .array(let elements) = value, let bound = number(rule) else { return true }
            return keyword == "minItems" ? Double(elements.count) >= bound : Double(elements.count) <= bound
        case "minimum", "maximum":
            guard let bound = number(rule), let number = number(value) else { return true }
            return keyword == "minimum" ? number >= bound : number <= bound
        case "maxLength": return number(rule).map { Double(value.text.count) <= $0 } ?? false
        case "minLength":
            guard case .string = value else { return true }
            return number(rule).map { Double(value.text.count) >= $0 } ?? false
        case "pattern":
            // This keyword of JSON Schema applies only to texts.
            guard case .string = value else { return true }
            let expression = try NSRegularExpression(pattern: rule.text, options: .dotMatchesLineSeparators)
            return expression.firstMatch(in: value.text, range: NSRange(value.text.startIndex..., in: value.text))
                != nil
        default: throw UnknownKeyword(name: keyword)
        }
    }

    private func isOf(_ value: JSONValue, _ type: String) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .boolean), ("string", .string), ("array", .array), ("object", .object),
            ("number", .number):
            true
        case ("integer", .number(let digits)): Double(digits).map { $0.rounded() == $0 } ?? false
        default: false
        }
    }

    private func elements(_ value: JSONValue) -> [JSONValue] {
        if case .array(let elements) = value { elements } else { [] }
    }
    private func entries(_ value: JSONValue) -> [JSONEntry] {
        if case .object(let entries) = value { entries } else { [] }
    }
    private func number(_ value: JSONValue) -> Double? {
        if case .number(let digits) = value { Double(digits) } else { nil }
    }
}
