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

/// The `additionalParams` document of a registration.
///
/// Form of Adobe's iOS SDK: keys are sorted, a space stands before `/>`, an apostrophe is `&#x27;`, and no parameters are an
/// empty root element.
enum ParametersXML {
    /// The document, not percent-encoded.
    static func document(_ parameters: [String: ParameterValue]) -> String {
        let elements = parameters.sorted { $0.key < $1.key }.compactMap { name, value in
            value.text.map { "<param name=\"\(escape(name))\" value=\"\(escape($0))\" />" }
        }
        return "<additionalParams>\(elements.joined())</additionalParams>"
    }

    /// The text as an attribute's value. Line ends are dropped, as Adobe's SDK does it. So are the control characters that
    /// XML 1.0 (section 2.2) has no form for: a server would refuse the whole registration because of one.
    static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#x27;"
            case "\t": result.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: break
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
