import HTTPTypes
import PushCore
import Store

/// An authorised request, as passed to routes.
struct APICall: Sendable {
    /// The values in the path, by the names of the route's parameters.
    let path: [String: String]
    let query: APIQuery
    let head: HTTPFields
    /// The body; an empty object if there is none.
    let body: JSONValue
    /// Nil if no key is needed.
    let key: VerifiedAPIKey?

    /// The id in the path, in exactly the form that responses have.
    func id(_ what: String) throws(APIProblem) -> Int64 {
        guard let text = path["id"], let id = Int64(text), id > 0, String(id) == text else {
            throw .invalid("path:id", "the id of a \(what) is a positive integer")
        }
        return id
    }

    /// The applications that the key is limited to; nil for all.
    var applications: [Int32]? { key?.applicationIDs.map { $0.sorted() } }

    /// Whether the key allows an application.
    func allows(_ application: Int32) -> Bool { key?.allows(application: application) ?? false }
}

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
