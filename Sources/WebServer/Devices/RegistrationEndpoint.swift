import Content
import HTTPTypes
import HummingbirdCore
import NIOCore
import PushCore
import Store

/// `POST /nms/mobile/1/registerIOS.jssp` and `registerAndroid.jssp`.
struct RegistrationEndpoint: Sendable {
    let directory: ApplicationDirectory
    let writer: RegistrationWriter
    let proofs: UserKeyProofs
    let mostBytes: Int

    /// Reads the body of a request, and answers it.
    func answer(_ request: Request, _ target: WebTarget, _ platform: Platform) async throws -> WebAnswer {
        guard request.method == .post else { return .wrongMethod(allowed: "POST") }
        if Self.isMultipart(request.head) { return .wrongContentType }
        var announced: Int?
        if let length = request.head.headerFields[.contentLength].flatMap({ Int($0) }) {
            guard length <= mostBytes else { return .tooLarge(limit: mostBytes) }
            announced = length
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: mostBytes)
        } catch is NIOTooManyBytesError {
            return .tooLarge(limit: mostBytes)
        }
        // Half a registration could be a valid one with half a token.
        guard announced == nil || announced == body.readableBytes else { return .truncatedBody }
        return await withCheckedContinuation { continuation in
            answer(request.head, query: target.query, body: body, platform) { continuation.resume(returning: $0) }
        }
    }

    /// 200 only when the registration is committed, as an SDK never sends the same data again; tells it from whatever thread.
    func answer(
        _ request: HTTPRequest,
        query: Substring,
        body: ByteBuffer,
        _ platform: Platform,
        _ answer: @escaping @Sendable (WebAnswer) -> Void
    ) {
        if Self.isMultipart(request) { return answer(.wrongContentType) }
        do {
            let registration = try registration(query, body, platform)
            guard let application = directory.known(registration.integrationKey),
                let claim = proofs.plainClaim(application: application.id)
            else {
                // The database has to be asked, or a signature to be checked.
                Task { answer(await find(registration)) }
                return
            }
            var placed = try place(registration, application)
            placed.claim = claim
            let dropped = placed.dropped
            writer.submit(placed) { answer(Self.answer($0, nil, dropped: dropped)) }
        } catch {
            answer(error.answer)
        }
    }

    private static func isMultipart(_ request: HTTPRequest) -> Bool {
        request.headerFields[.contentType]?.lowercased().hasPrefix("multipart/") ?? false
    }

    /// Parameters of the body win over those of the query string.
    private func registration(
        _ query: Substring,
        _ body: ByteBuffer,
        _ platform: Platform
    ) throws(RefusedRegistration) -> DeviceRegistration {
        var form = FormParameters()
        do {
            if !query.isEmpty { try form.read(Array(query.utf8)) }
            if body.readableBytes > 0 { try form.read(Array(body.readableBytesView)) }
        } catch {
            throw RefusedRegistration(.form(error))
        }
        do { return try DeviceRegistration(form, platform: platform) } catch { throw RefusedRegistration(error) }
    }

    private func find(_ registration: DeviceRegistration) async -> WebAnswer {
        switch await directory.find(registration.integrationKey) {
        case .unknown: return .unknownKey
        case .unavailable: return .databaseAway
        case .known(let application):
            do {
                var placed = try place(registration, application)
                switch await proofs.claim(registration.userKeyProof, application: application.id, &placed) {
                case .decided(let refusal):
                    return Self.answer(await writer.submit(placed), refusal, dropped: placed.dropped)
                case .unavailable: return .unreadableProofKey
                }
            } catch {
                return error.answer
            }
        }
    }

    private func place(
        _ registration: DeviceRegistration,
        _ application: RegistrableApplication
    ) throws(RefusedRegistration) -> PlacedRegistration {
        // A key of the other platform: its tokens would be sent to the wrong gateway.
        guard application.platform == registration.platform else { throw RefusedRegistration(answer: .unknownKey) }
        guard case .success(let declarations) = application.declarations else {
            throw RefusedRegistration(answer: .unreadableDeclarations)
        }
        do {
            var bounded = registration
            let dropped = bounded.dropUndeclared(declarations)
            var placed = try PlacedRegistration(bounded, application: application.id, declarations: declarations)
            placed.dropped = dropped
            return placed
        } catch {
            throw RefusedRegistration(error)
        }
    }

    private static func answer(
        _ decision: RegistrationDecision,
        _ refusal: UserKeyProof.Refusal?,
        dropped: Int
    ) -> WebAnswer {
        switch decision {
        case .stored:
            refusal.map { .registeredUnproven($0) } ?? (dropped > 0 ? .registeredInPart(dropped: dropped) : .registered)
        case .refused: .refusedValue
        case .unavailable, .busy: .databaseAway
        }
    }
}

/// A registration that is not stored, and what its device is told.
private struct RefusedRegistration: Error {
    let answer: WebAnswer

    init(answer: WebAnswer) { self.answer = answer }

    init(_ error: RegistrationError) {
        answer = WebAnswer(Self.status(error), error.description)
    }

    /// What is wrong, so that a client can tell without reading: something else than UTF-8, what can be no token, or what does not
    /// stand as it should.
    private static func status(_ error: RegistrationError) -> HTTPResponse.Status {
        switch error {
        case .form(let error) where error.code == .notUTF8: .unsupportedMediaType
        case .token: .unprocessableContent
        case .form, .missing, .additionalParameters, .optOut, .tooLong: .badRequest
        }
    }
}

/// The applications that devices may register with, by integration key.
final class ApplicationDirectory: Sendable {
    /// What a key stands for.
    enum Result: Sendable {
        case known(RegistrableApplication)
        case unknown
        /// It is none that is known here, and the database cannot be asked.
        case unavailable
    }

    private let applications: RefreshedValue<[String: RegistrableApplication]>
    private let timeout: Duration

    /// - Parameter timeout: how long a database that is away is waited for.
    init(store: Store, timeout: Duration, onFailure: @escaping @Sendable (any Error) -> Void) {
        self.timeout = timeout
        applications = RefreshedValue(
            [:],
            read: {
                // Who waits for a connection would go on waiting when nobody waits for him any more.
                guard store.isConnected else { return nil }
                let rows = try await store.registrableApplications()
                return Dictionary(rows.map { ($0.integrationKey, $0) }, uniquingKeysWith: { first, _ in first })
            },
            onFailure: onFailure
        )
    }

    /// The names of the applications whose devices cannot be registered, and why.
    var unreadable: [String: String] {
        applications.current.values.reduce(into: [:]) { names, application in
            if case .failure(let error) = application.declarations { names[application.name] = "\(error)" }
        }
    }

    /// What a key stands for, as far as that was read; the database is not asked.
    func known(_ key: String) -> RegistrableApplication? { applications.current[key] }

    /// Looks a key up; the database is asked only about one that is not known.
    func find(_ key: String) async -> Result {
        if let application = known(key) { return .known(application) }
        guard await applications.refresh(timeout: timeout) else { return .unavailable }
        return known(key).map(Result.known) ?? .unknown
    }

    /// Reads all of them again, since their declarations may have changed.
    func refresh() async {
        _ = await applications.refresh()
    }
}
