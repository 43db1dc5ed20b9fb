/// Writes JSON objects whose values are all strings.
package enum JSONObjectText {
    /// The object, its members sorted by name; nil if there are no members.
    package static func write(_ values: [String: String]) -> String? {
        guard !values.isEmpty else { return nil }
        var output: [UInt8] = [UInt8(ascii: "{")]
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            JSONText.appendString(name, to: &output)
            output.append(UInt8(ascii: ":"))
            JSONText.appendString(value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
        return String(decoding: output, as: UTF8.self)
    }

    /// A text as a JSON string with its quotes.
    package static func quoted(_ text: String) -> String {
        var output: [UInt8] = []
        JSONText.appendString(text, to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}
