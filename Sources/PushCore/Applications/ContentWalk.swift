/// Finds what a content says to a platform: the objects under its name, at the top and in variants of the whole content.
struct ContentWalk {
    let platform: Platform

    /// Calls `visit` with the path and the entries of each section.
    func sections(_ value: JSONValue, _ path: String = "", _ visit: (String, [JSONEntry]) -> Void) {
        guard case .object(let entries) = value else { return }
        for entry in entries {
            let inner = path.isEmpty ? entry.name : "\(path).\(entry.name)"
            if entry.name == platform.rawValue, case .object(let section) = entry.value {
                visit(inner, section)
            } else if Platform(rawValue: entry.name) == nil {
                sections(entry.value, inner, visit)
            }
        }
    }

    /// The value with each section replaced.
    func mapSections(_ value: JSONValue, _ change: ([JSONEntry]) -> [JSONEntry]) -> JSONValue {
        guard case .object(let entries) = value else { return value }
        return .object(
            entries.map { entry in
                if entry.name == platform.rawValue, case .object(let section) = entry.value {
                    return JSONEntry(name: entry.name, value: .object(change(section)))
                }
                guard Platform(rawValue: entry.name) == nil else { return entry }
                return JSONEntry(name: entry.name, value: mapSections(entry.value, change))
            }
        )
    }
}

extension JSONValue {
    /// Appends the value as JSON text.
    func append(to output: inout [UInt8]) {
        switch self {
        case .null: output += Array("null".utf8)
        case .boolean(let flag): output += Array((flag ? "true" : "false").utf8)
        case .number(let digits): output += Array(digits.utf8)
        case .string(let text): JSONText.appendString(text, to: &output)
        case .array(let elements): Self.append(elements, "[", "]", to: &output) { $0.append(to: &$1) }
        case .object(let entries):
            Self.append(entries, "{", "}", to: &output) { entry, output in
                JSONText.appendString(entry.name, to: &output)
                output.append(UInt8(ascii: ":"))
                entry.value.append(to: &output)
            }
        }
    }

    private static func append<Element>(
        _ elements: [Element],
        _ open: Unicode.Scalar,
        _ close: Unicode.Scalar,
        to output: inout [UInt8],
        _ write: (Element, inout [UInt8]) -> Void
    ) {
        output.append(UInt8(ascii: open))
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            write(element, &output)
        }
        output.append(UInt8(ascii: close))
    }
}
