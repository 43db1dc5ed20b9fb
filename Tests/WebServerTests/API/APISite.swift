import Foundation
import PushCore
import Store
import Synchronization
import TestSupport
import Testing

@testable import WebServer

/// A web process whose API is called over real HTTP. At the end, every answer is checked against the OpenAPI document.
final class APISite: Sendable {
    let web: WebSite
    private let place: SiteGate.Place
    private let exchanges = Mutex<[APIExchange]>([])

    private init(_ web: WebSite, _ place: SiteGate.Place) {
        self.web = web
        self.place = place
    }

    static func start(_ change: (inout WebSettings) -> Void = { _ in }) async throws -> APISite {
        let place = await SiteGate.shared.enter()
        return APISite(try await WebSite.start(change), place)
    }

    /// A key with these scopes; all scopes if none are given.
    func key(
        _ scopes: APIScope...,
        applications: [String] = [],
        days: Int32? = nil,
        name: String = UUID().uuidString
    ) async throws -> String {
        try await key(scopes, applications: applications, days: days, name: name)
    }

    func key(
        _ scopes: [APIScope],
        applications: [String] = [],
        days: Int32? = nil,
        name: String = UUID().uuidString
    ) async throws -> String {
        var random = SystemRandomNumberGenerator()
        let key = APIKey(using: &random)
        try await web.admin.createAPIKey(
            NewAPIKey(
                publicID: key.publicID,
                hash: key.hash,
                name: name,
                scopes: Set(scopes.isEmpty ? APIScope.allCases : scopes),
                applications: applications,
                validDays: days
            )
        )
        return key.secretText
    }

    /// Requests a path below `/api/v1`.
    func call(
        _ method: String,
        _ path: String,
        key: String? = nil,
        _ body: String? = nil,
        headers: [String] = []
    ) async throws -> APIExchange {
        try await call(method, path, key: key, bytes: body.map { Array($0.utf8) }, headers: headers)
    }

    func call(
        _ method: String,
        _ path: String,
        key: String?,
        bytes: [UInt8]?,
        headers: [String] = []
    ) async throws -> APIExchange {
        var lines = ["\(method) /api/v1\(path) HTTP/1.1", "Host: localhost"] + headers
        if let key { lines.append("Authorization: Bearer \(key)") }
        if let bytes {
            if !headers.contains(where: { $0.lowercased().hasPrefix("content-type") }) {
                lines.append("Content-Type: application/json")
            }
            lines.append("Content-Length: \(bytes.count)")
        }
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n"
        let answer = try await RawHTTP.exchange(port: web.port, Array(text.utf8) + (bytes ?? []))
        let exchange = APIExchange(
            method: method,
            path: path,
            body: bytes.map { String(decoding: $0, as: UTF8.self) },
            answer: answer
        )
        exchanges.withLock { $0.append(exchange) }
        return exchange
    }

    /// Checks every answer against the document with an independent validator of JSON Schema, and ends the process.
    func finish(_ location: SourceLocation = #_sourceLocation) async throws {
        let problems = try await SchemaCheck.problems(exchanges.withLock { $0 }, document: web.api.document)
        #expect(problems == "", sourceLocation: location)
        try await web.drain()
    }
}
