import Foundation

/// The value of a subscription parameter.
///
/// It can be written as a literal: `["email": "someone@example.com", "points": 3233, "newsletter": true]`.
public enum ParameterValue: Sendable, Equatable {
    case string(String)
    case integer(Int64)
    case float(Float)
    case double(Double)
    case boolean(Bool)
    /// The parameter is not sent.
    case absent

    /// The value as the server gets it, before escaping; nil if it is not sent.
    var text: String? {
        switch self {
        case .string(let value): value
        case .integer(let value): String(value)
        case .float(let value): String(value)
        case .double(let value): String(value)
        case .boolean(let value): String(value)
        case .absent: nil
        }
    }
}

extension ParameterValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Makes a text from a literal.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes a whole number from a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Makes a number from a literal.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a Boolean from a literal.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Makes a value that is not sent.
    public init(nilLiteral: ()) { self = .absent }
}

extension ParameterValue {
    /// Makes a value from any text, number or Boolean, including Foundation objects.
    ///
    /// Nil for every other value; Adobe's SDK does not send those either.
    public init?(any value: Any) {
        // Check the exact types first: on Apple's systems an NSNumber converts to each of them, and each of them to an
        // NSNumber.
        let type = type(of: value)
        if let value = value as? ParameterValue {
            self = value
        } else if let value = value as? String {
            self = .string(value)
        } else if type == Bool.self, let value = value as? Bool {
            self = .boolean(value)
        } else if type == Float.self, let value = value as? Float {
            self = .float(value)
        } else if type == Double.self, let value = value as? Double {
            self = .double(value)
        } else if let value = value as? any BinaryInteger {
            self = .string(String(value))
        } else if let value = value as? NSNumber {
            self = Self.isBoolean(value) ? .boolean(value.boolValue) : .string(value.stringValue)
        } else {
            return nil
        }
    }

    /// The values of a dictionary, without those that are not sent.
    static func values(_ parameters: [String: Any]?) -> [String: ParameterValue] {
        (parameters ?? [:]).compactMapValues { ParameterValue(any: $0) }
    }

    private static func isBoolean(_ number: NSNumber) -> Bool {
        #if canImport(ObjectiveC)
        CFGetTypeID(number) == CFBooleanGetTypeID()
        #else
        // Objective-C's type encoding of a Boolean.
        String(cString: number.objCType) == "c"
        #endif
    }
}
