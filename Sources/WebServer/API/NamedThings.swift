import Content
import Foundation
import HTTPTypes
import PushCore
import Store

/// What routes of things with names have in common: seed addresses, exclusion lists, templates.
extension APIRoute {
    static let nameParameter = Parameter.path(
        "name",
        #"{"type": "string", "minLength": 1, "maxLength": 200}"#,
        "Its name."
    )
}

extension APICall {
    /// The name in the path; what cannot be the name of anything is not found.
    func name(_ what: String) throws(APIProblem) -> String {
        guard let name = path["name"], NameRule.problem(name: name) == nil else {
            throw .notFound("\(what) of this name")
        }
        return name
    }

    /// Refuses a key that is limited to applications.
    func requireAllApplications(_ what: String) throws(APIProblem) {
        guard applications == nil else { throw .limitedKey(what) }
    }
}

extension APIReply {
    /// The answer to the creation of something with a name.
    static func created(_ collection: String, _ name: String, _ body: JSONValue) -> APIReply {
        var reply = APIReply(.created, body)
        let escaped = name.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        reply.headers[.location] = "\(WebAPI.base)/\(collection)/\(escaped)"
        return reply
    }

    /// RFC 3986, 2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

/// Which page of a list by names is asked for.
struct NamePage: Sendable {
    let after: String
    let limit: Int32

    private static let usual: Int32 = 20
    private static let most: Int32 = 100
    private static let longestName = NameRule.longestName

    static let details = "Give `next` of one page as `after` of the following one."
    static let parameters = [
        APIRoute.Parameter.query(
            "after",
            #"{"type": "string", "minLength": 1, "maxLength": \#(longestName), "pattern": "^[^\\u0000]*$"}"#,
            "Only those behind this name."
        ),
        .query("limit", #"{"type": "integer", "minimum": 1, "maximum": \#(most), "default": \#(usual)}"#, "How many."),
    ]

    init(_ call: APICall) throws(APIProblem) {
        var query = call.query
        // A character has at most four bytes.
        let after = query.text("after", most: 4 * Self.longestName) ?? ""
        if after.unicodeScalars.count > Self.longestName {
            query.note("after", "at most \(Self.longestName) characters are taken")
        }
        limit = query.integer("limit", 1...Self.most) ?? Self.usual
        self.after = after
        try query.close()
    }

    /// The answer with a page.
    func json<Row>(_ name: String, _ rows: [Row], next: KeyPath<Row, String>, _ json: (Row) -> JSONValue) -> JSONValue {
        let last = rows.count == Int(limit) ? rows.last?[keyPath: next] : nil
        return .members((name, .array(rows.map(json))), ("next", .text(last)))
    }
}

extension Store {
    /// Refuses applications that the key of a request is not for, as if they were not there.
    func requireApplications(_ names: [String], for call: APICall) async throws {
        guard call.applications != nil else { return }
        let known = try await apiApplications().filter { call.allows($0.id) }.map(\.name)
        if let missing = names.first(where: { !known.contains($0) }) {
            throw APIProblem.notFound("application “\(missing)”")
        }
    }
}

/// Members that several bodies have.
extension JSONReader {
    /// Names of other things: more of them, or longer ones, are in no installation.
    static let mostNames = 1_000
    static let longestName = 1_000
    /// The limit of the database's function.
    private static let longestFilter = 65_536

    /// A name for something new.
    mutating func newName(_ member: String = "name") -> String {
        let name = text(member, required: true, most: NameRule.longestName, mayBeEmpty: false) ?? ""
        if !name.isEmpty, let problem = NameRule.problem(name: name) { note(member, "it \(problem)") }
        return name
    }

    /// A label that may be left out.
    mutating func optionalLabel() -> String? {
        // A character has at most four bytes.
        let label = text("label", most: 4 * NameRule.longestLabel)
        if let label, let problem = NameRule.problem(label: label) { note("label", "it \(problem)") }
        return label
    }

    /// Names of things that there are.
    mutating func nameList(_ member: String) -> [String]? {
        textList(member, 0...Self.mostNames, most: Self.longestName)
    }

    /// A filter; "" is none.
    mutating func filter() -> String? {
        let filter = text("filter", most: Self.longestFilter)
        if let filter, !filter.isEmpty {
            do {
                _ = try TargetFilter(parsing: filter)
            } catch {
                let place = error.position.map { "character \($0): " } ?? ""
                note("filter", "\(place)\(error.cause); \(error.remedy)")
            }
        }
        return filter
    }
}

extension APIProblem {
    /// What is wrong with a content, each with its path in the body.
    static func faults(inContent json: String) -> [Fault] {
        PushContent.validate(json: json).prefix(20).map {
            Fault(
                path: "/content" + $0.pointer,
                problem: "\($0.cause); \($0.remedy)"
            )
        }
    }
}
