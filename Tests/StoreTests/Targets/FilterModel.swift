import Foundation
import PushCore

/// A subscriber in the model of filters.
struct ModelSubscriber {
    /// A field's value as the database sees it.
    enum Value {
        case text(String)
        case number(Decimal)
        case boolean(Bool)
        /// Microseconds since 1970.
        case time(Int64)
    }

    let id: Int64
    var fields: [TargetField: Value]
}

/// A second, independent implementation of filters, without SQL.
struct FilterModel {
    /// The value of `now`, in microseconds since 1970.
    let start: Int64

    func holds(_ filter: TargetFilter, _ subscriber: ModelSubscriber) -> Bool {
        switch filter {
        case .all(let filters): return filters.allSatisfy { holds($0, subscriber) }
        case .any(let filters): return filters.contains { holds($0, subscriber) }
        case .not(let filter): return !holds(filter, subscriber)
        case .compare(let field, .notEqual, let literal):
            return !holds(.compare(field, .equal, literal), subscriber)
        case .compare(let field, let comparison, let literal):
            guard let order = order(subscriber.fields[field], literal) else { return false }
            return switch comparison {
            case .equal, .notEqual: order == 0
            case .less: order < 0
            case .lessOrEqual: order <= 0
            case .greater: order > 0
            case .greaterOrEqual: order >= 0
            }
        case .isIn(let field, let literals):
            return literals.contains { order(subscriber.fields[field], $0) == 0 }
        case .contains(let field, let text):
            guard let value = bytes(subscriber.fields[field]) else { return false }
            let wanted = Array(text.utf8)
            return wanted.isEmpty || value.indices.contains { value[$0...].starts(with: wanted) }
        case .startsWith(let field, let text):
            return bytes(subscriber.fields[field])?.starts(with: text.utf8) ?? false
        case .isNull(let field): return subscriber.fields[field] == nil
        // BehaviourModel has these.
        case .did: return false
        }
    }

    private func bytes(_ value: ModelSubscriber.Value?) -> [UInt8]? {
        if case .text(let text) = value { Array(text.utf8) } else { nil }
    }

    /// -1, 0 or 1; nil if there is no value or it cannot be compared.
    private func order(_ value: ModelSubscriber.Value?, _ literal: TargetLiteral) -> Int? {
        switch (value, literal) {
        case (.text(let text), .text(let other)), (.text(let text), .textOrTime(let other, _)):
            order(Array(text.utf8), Array(other.utf8))
        case (.text(let text), .number(let other)): Self.number(text).flatMap { order($0, Self.number(other)) }
        case (.text(let text), .boolean(let other)):
            text == "true" || text == "false" ? ((text == "true") == other ? 0 : 1) : nil
        case (.text(let text), .time(let moment)): Self.time(text).flatMap { order($0, microseconds(moment)) }
        case (.number(let number), .number(let other)): order(number, Self.number(other))
        case (.boolean(let flag), .boolean(let other)): flag == other ? 0 : 1
        case (.time(let time), .time(let moment)): order(time, microseconds(moment))
        case (.time(let time), .textOrTime(_, let moment)): order(time, moment)
        default: nil
        }
    }

    private func order<Element: Comparable>(_ one: Element, _ other: Element?) -> Int? {
        guard let other else { return nil }
        return one < other ? -1 : one == other ? 0 : 1
    }

    private func order(_ one: [UInt8], _ other: [UInt8]) -> Int {
        one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
    }

    private func microseconds(_ moment: TargetMoment) -> Int64 {
        switch moment {
        case .absolute(let microseconds): microseconds
        case .beforeStart(let seconds): start - seconds * 1_000_000
        }
    }

    /// A decimal number with an optional sign, and nothing else.
    private static func number(_ text: String) -> Decimal? {
        text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?/) == nil
            ? nil : Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// The tables of values have few times, so the model needs no calendar of its own.
    private static func time(_ text: String) -> Int64? { FilterGenerator.times[text] }
}
