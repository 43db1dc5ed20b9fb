/// The value of a subscription parameter.
///
/// Literals need no name: `["email": "someone@example.com", "points": 3233, "newsletter": true]`.
public enum ParameterValue: Sendable, Equatable {
    case string(String)
    case integer(Int64)
    case float(Float)
    case double(Double)
    case boolean(Bool)
    /// The parameter is not sent.
    case absent

    /// The value as the server gets it, before it is escaped; nil when it is not sent.
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
    /// Makes a text of a literal.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes a whole number of a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Makes a number of a literal.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a truth value of a literal.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Makes a value that is not sent.
    public init(nilLiteral: ()) { self = .absent }
}
