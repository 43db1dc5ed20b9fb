/// Numeric IP addresses as certificates hold them.
enum IPAddressBytes {
    /// The 4 or 16 bytes of a numeric address; nil for a name.
    static func parse(_ text: String) -> [UInt8]? {
        text.contains(":") ? version6(text) : version4(text)
    }

    private static func version4(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return parts.count == 4 && !parts.contains(nil) ? parts.compactMap { $0 } : nil
    }

    /// Eight groups, of which a run of zeros may be left out once.
    private static func version6(_ text: String) -> [UInt8]? {
        var sides = [""]
        var rest = text[...]
        if let gap = text.firstIndex(of: ":"), let double = doubleColon(text, from: gap) {
            sides = [String(text[..<double])]
            rest = text[text.index(double, offsetBy: 2)...]
            sides.append(String(rest))
        } else {
            sides = [String(rest)]
        }
        let groups = sides.map {
            $0.isEmpty ? [] : $0.split(separator: ":", omittingEmptySubsequences: false).map { UInt16($0, radix: 16) }
        }
        let known = groups.joined().count
        guard !groups.joined().contains(nil), sides.count == 2 ? known < 8 : known == 8 else { return nil }
        let values = groups.map { $0.compactMap { $0 } }
        let all = values[0] + [UInt16](repeating: 0, count: 8 - known) + (sides.count == 2 ? values[1] : [])
        return all.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    private static func doubleColon(_ text: String, from start: String.Index) -> String.Index? {
        var index = start
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" { return index }
            index = next
        }
        return nil
    }
}
