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
    let maxBytes: Int

    /// Reads the body of a request and answers it.
    func answer(_ request: Request, _ target: WebTarget, _ platform: Platform) async throws -> WebAnswer {
        guard request.method == .post else { return .wrongMethod(allowed: "POST") }
        if Self.isMultipart(request.head) { return .wrongContentType }
        var announced: Int?
        if let length = request.head.headerFields[.contentLength].flatMap({ Int($0) }) {
            guard length <= maxBytes else { return .tooLarge(limit: maxBytes) }
            announced = length
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: maxBytes)
        } catch is NIOTooManyBytesError {
            return .tooLarge(limit: maxBytes)
        }
        // A truncated registration could be a valid one with a truncated token.
        guard announced == nil || announced == body.readableBytes else { return .truncatedBody }
        return await withCheckedContinuation { continuation in
            answer(request.head, query: target.query, body: body, platform) { continuation.resume(returning: $0) }
        }
    }

    /// Calls `answer` on any thread: with 200 only once the registration is committed, because an SDK never sends the
    /// same data again.
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
                // The database must be queried, or a signature checked.
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

    /// Parameters in the body override those in the query string.
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
        // The key belongs to the other platform: the token would be sent to the wrong gateway.
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

/// A refused registration, with the response to its device.
private struct RefusedRegistration: Error {
    let answer: WebAnswer
}

extension RefusedRegistration {
    init(_ error: RegistrationError) {
        answer = WebAnswer(Self.status(error), error.description)
    }

    /// The status lets a client distinguish the faults: not UTF-8, an invalid token, or another malformed parameter.
    private static func status(_ error: RegistrationError) -> HTTPResponse.Status {
        switch error {
        case .form(let error) where error.code == .notUTF8: .unsupportedMediaType
        case .token: .unprocessableContent
        case .form, .missing, .additionalParameters, .optOut, .tooLong: .badRequest
        }
    }
}
