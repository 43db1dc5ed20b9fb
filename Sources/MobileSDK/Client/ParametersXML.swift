import Foundation

/// The `additionalParams` document of a registration.
///
/// It has the form of Adobe's iOS SDK: keys are sorted, a space precedes `/>`, an apostrophe is `&#x27;`, and without
/// parameters there is an empty root element.
enum ParametersXML {
    /// The document, before percent-encoding.
    static func document(_ parameters: [String: ParameterValue]) -> String {
        let elements = parameters.sorted { $0.key < $1.key }.compactMap { name, value in
            value.text.map { "<param name=\"\(escape(name))\" value=\"\(escape($0))\" />" }
        }
        return "\(head)\(elements.joined())\(tail)"
    }

    /// The new document, completed with the stored parameters if the app passed none (nil, or a document with only the
    /// proof of the user key).
    static func completed(_ said: String?, kept: String?) -> String {
        guard let kept, let said else { return said ?? kept ?? document([:]) }
        guard let proof = proof(said), said == "\(head)\(proof)\(tail)" else { return said }
        let others = self.proof(kept).map { kept.replacingOccurrences(of: $0, with: "") } ?? kept
        return others.dropLast(tail.count) + proof + tail
    }

    /// The name of the parameter that carries the proof of the user key; the server removes it.
    static let proofName = "userKeyProof"

    private static let head = "<additionalParams>"
    private static let tail = "</additionalParams>"

    /// The element of the proof in a document. Its value contains no quotation mark, as it is escaped.
    private static func proof(_ document: String) -> Substring? {
        document.range(of: "<param name=\"\(proofName)\" value=\"[^\"]*\" />", options: .regularExpression).map {
            document[$0]
        }
    }

    /// The text as an attribute's value. Line breaks are dropped, as in Adobe's SDK. So are control characters that XML
    /// 1.0 (section 2.2) cannot represent: a server would refuse the whole registration because of one.
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
