import Foundation

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
        return "\(head)\(elements.joined())\(tail)"
    }

    /// What is said, with the kept parameters where nothing is said of them: by nil, or by a document of a user key's proof alone.
    static func completed(_ said: String?, kept: String?) -> String {
        guard let kept, let said else { return said ?? kept ?? document([:]) }
        guard let proof = proof(said), said == "\(head)\(proof)\(tail)" else { return said }
        let others = self.proof(kept).map { kept.replacingOccurrences(of: $0, with: "") } ?? kept
        return others.dropLast(tail.count) + proof + tail
    }

    /// The name of the parameter in which a proof of the user key travels; the server takes it out.
    static let proofName = "userKeyProof"

    private static let head = "<additionalParams>"
    private static let tail = "</additionalParams>"

    /// The element of the proof in a document. A value has no quotation mark, as it is escaped.
    private static func proof(_ document: String) -> Substring? {
        document.range(of: "<param name=\"\(proofName)\" value=\"[^\"]*\" />", options: .regularExpression).map {
            document[$0]
        }
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

extension ParameterValue {
    /// Makes a value of what a dictionary of anything holds: a text, a number or a truth value, also as an object of Foundation.
    ///
    /// Nil for everything else, which Adobe's SDK does not send either.
    public init?(any value: Any) {
        // The exact types first: on Apple's systems an NSNumber converts to each of them, and each of them to an NSNumber.
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

    /// The values of a dictionary of anything, without those that are not sent.
    static func values(_ parameters: [String: Any]?) -> [String: ParameterValue] {
        (parameters ?? [:]).compactMapValues { ParameterValue(any: $0) }
    }

    private static func isBoolean(_ number: NSNumber) -> Bool {
        #if canImport(ObjectiveC)
        CFGetTypeID(number) == CFBooleanGetTypeID()
        #else
        // The type of a truth value, as Objective-C encodes it.
        String(cString: number.objCType) == "c"
        #endif
    }
}
