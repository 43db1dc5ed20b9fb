import PushCore

/// Reads the parameters of a query string and notes their faults.
struct APIQuery: Sendable {
    private var values: [String: String] = [:]
    private(set) var faults: [APIProblem.Fault] = []
    private var known: Set<String> = []

    init(_ query: Substring) throws(APIProblem) {
        guard !query.isEmpty else { return }
        var form = FormParameters()
        do {
            try form.read(Array(query.utf8))
        } catch {
            throw .invalid("query", error.description)
        }
        values = form.values
    }

    mutating func text(_ name: String, as kind: APIText) -> String? {
        known.insert(name)
        guard let value = values[name] else { return nil }
        if value.isEmpty || value.utf8.count > kind.maxBytes || value.utf8.contains(0) {
            note(name, "1 to \(kind.maxBytes) bytes without U+0000 are expected")
            return nil
        }
        return value
    }

    mutating func integer<Number: FixedWidthInteger>(_ name: String, _ range: ClosedRange<Number>) -> Number? {
        known.insert(name)
        guard let value = values[name] else { return nil }
        guard let number = Number(value), range.contains(number), String(number) == value else {
            note(name, "a whole number from \(range.lowerBound) to \(range.upperBound) is expected")
            return nil
        }
        return number
    }

    mutating func note(_ name: String, _ problem: String) {
        faults.append(APIProblem.Fault(path: "query:\(name)", problem: problem))
    }

    /// Throws the noted faults, including unknown parameters.
    mutating func close() throws(APIProblem) {
        for name in values.keys.sorted().prefix(20) where !known.contains(name) {
            note(String(name.prefix(100)), "there is no such parameter")
        }
        if !faults.isEmpty { throw .invalid(faults) }
    }
}
