import Content
import Foundation
import HTTPTypes
import PushCore
import Store

/// What the routes of named objects share: seed addresses, exclusion lists and templates.
extension APIRoute {
    static let nameParameter = Parameter.path(
        "name",
        APIText.newName.schema(mayBeEmpty: false),
        "Its name."
    )
}

extension APICall {
    /// The name in the path; throws "not found" for an invalid name.
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
    /// The response to the creation of a named object.
    static func created(_ collection: String, _ name: String, _ body: JSONValue) -> APIReply {
        var reply = APIReply(.created, body)
        let escaped = name.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        reply.headers[.location] = "\(WebAPI.base)/\(collection)/\(escaped)"
        return reply
    }

    /// RFC 3986, section 2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

extension Store {
    /// Refuses applications that the request's key does not allow, as if they did not exist.
    func requireApplications(_ names: [String], for call: APICall) async throws {
        guard call.applications != nil else { return }
        let known = try await apiApplications().filter { call.allows($0.id) }.map(\.name)
        if let missing = names.first(where: { !known.contains($0) }) {
            throw APIProblem.notFound("application “\(missing)”")
        }
    }

    /// Refuses a service none of whose applications the request's key allows, as if it did not exist.
    ///
    /// - Parameter isWhole: whether the key must allow all of its applications.
    func requireService(_ name: String, for call: APICall, asWhole isWhole: Bool = false) async throws {
        let applications = try await apiApplications(ofService: name)
        guard call.applications != nil else { return }
        let allowed = applications.filter(call.allows)
        if allowed.isEmpty || isWhole && allowed.count < applications.count {
            throw APIProblem.notFound("service of this name")
        }
    }

    /// Refuses a request whose filter cannot be parsed.
    func requireFilter(_ text: String?) async throws {
        guard let text, !text.isEmpty, case .failure(let error) = try await parseFilter(text) else { return }
        let place = error.position.map { "character \($0): " } ?? ""
        throw APIProblem.invalid("/filter", "\(place)\(error.cause); \(error.remedy)")
    }
}

/// Members that several bodies share.
extension JSONReader {
    /// Limits for names of other objects; no installation has more or longer ones.
    static let maxNames = 1_000

    /// The name of a new object.
    mutating func newName(_ member: String = "name") -> String {
        let name = text(member, required: true, as: .newName, mayBeEmpty: false) ?? ""
        if !name.isEmpty, let problem = NameRule.problem(name: name) { note(member, "it \(problem)") }
        return name
    }

    /// An optional label.
    mutating func optionalLabel() -> String? {
        // A character has at most four bytes.
        let label = text("label", as: .label)
        if let label, let problem = NameRule.problem(label: label) { note("label", "it \(problem)") }
        return label
    }

    /// The label of a delivery where it may be omitted, but not empty.
    mutating func changedLabel() -> String? {
        let label = text("label", as: .label, mayBeEmpty: false)
        if let label, let problem = NameRule.problem(label: label) { note("label", "it \(problem)") }
        return label
    }

    /// Names of existing objects.
    mutating func nameList(_ member: String) -> [String]? {
        textList(member, 0...Self.maxNames, as: .name)
    }

    /// The text of a filter, which ``Store/requireFilter(_:)`` reads; "" for none.
    mutating func filter() -> String? { text("filter", as: .filter).map { TargetFilter.isNone($0) ? "" : $0 } }

    /// Notes an audience beside a filter: a delivery gets a copy of the audience's filter.
    mutating func checkAudience(_ audience: String?, filter: String?) {
        if audience != nil, filter != nil { note("audience", "a filter and an audience cannot be combined") }
    }

    /// Notes a target that a delivery of this kind cannot have. An empty filter or list is none.
    mutating func checkTarget(isContinuous: Bool, isExplicit: Bool, filter: String?, exclude: [String]?) {
        let hasFilter = !(filter ?? "").isEmpty
        if isContinuous, isExplicit || hasFilter || !(exclude ?? []).isEmpty {
            note("kind", "a continuous delivery has no target: omit explicitTargets, filter and exclude")
        } else if isExplicit, hasFilter {
            note("filter", "a filter cannot be combined with explicit targets")
        }
    }
}

extension APIProblem {
    /// The faults of a content, each with its path in the body.
    static func faults(inContent json: String) -> [Fault] {
        PushContent.validate(json: json).prefix(20).map {
            Fault(
                path: "/content" + $0.pointer,
                problem: "\($0.cause); \($0.remedy)"
            )
        }
    }
}
