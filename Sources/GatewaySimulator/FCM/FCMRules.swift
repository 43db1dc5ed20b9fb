import HTTP2

/// The rules of FCM's HTTP v1 API.
struct FCMRules: GatewayRules {
    static var gateway: SimulatedGateway { .fcm }

    /// Google allows 100 concurrent streams; a client that opens more gets a GOAWAY.
    static let streamLimit: UInt32 = 100
    /// The debug data of that GOAWAY.
    static let violationDebugData = Array("exceeded_max_concurrent_streams".utf8)

    private let projectID: String
    private let path: [UInt8]
    private let book: AccessTokenBook
    private var answers: FCMAnswers
    private var devices: [MessageKey: DeviceState] = [:]
    private var isKeyRevoked = false
    /// The last valid authorization value, including the scheme, and when it expires.
    private var bearer: [UInt8] = []
    private var bearerExpiry: Int64 = 0

    init(projectID: String, book: AccessTokenBook) {
        self.projectID = projectID
        self.book = book
        path = Array("/v1/projects/\(projectID)/messages:send".utf8)
        answers = FCMAnswers(projectID: projectID)
    }

    static func newConnection() -> FCMConnectionState { FCMConnectionState() }

    static func streamLimit(_ state: FCMConnectionState) -> UInt32 { streamLimit }

    static func answered(_ code: UInt8, _ state: inout FCMConnectionState, limitDrops: Bool) -> Bool { false }

    mutating func apply(_ conditions: GatewayConditions) {
        devices = conditions.devices
        isKeyRevoked = conditions.isRevoked
    }

    mutating func respond(
        _ judgement: Judgement,
        id: ArraySlice<UInt8>,
        streamID: Int32,
        on connection: HTTP2ServerConnection
    ) {
        answers.send(judgement, streamID: streamID, on: connection)
    }

    /// The answer to a message over HTTP/1.1.
    mutating func answer(_ judgement: Judgement) -> FCMAnswers.Answer { answers.answer(judgement) }

    mutating func judge(_ request: HTTP2ServerRequest, _ state: inout FCMConnectionState, now: Int64) -> Judgement {
        var judgement = Judgement(key: .none, tokenHash: 0, code: AnswerCatalog.accepted)
        do throws(FCMRejection) {
            try checkRequest(request, now: now)
            let message = try FCMMessageReader.read(request.body)
            identify(message, request.body, &judgement)
            try checkDevice(message, request.body, &judgement)
        } catch {
            // The message of a refused sender is recorded, too, if it can be read.
            if judgement.key == .none, let message = try? FCMMessageReader.read(request.body) {
                identify(message, request.body, &judgement)
            }
            judgement.code = answers.code(error.reason)
            judgement.detail = RejectionDetail(error)
        }
        return judgement
    }

    private mutating func checkRequest(_ request: HTTP2ServerRequest, now: Int64) throws(FCMRejection) {
        let bytes = request.headers.bytes
        let fields = FCMRequestFields(request.headers, bytes)
        guard Bytes.equal(bytes, fields.method.range, "POST") else { throw FCMRejection(.notFound) }
        let isOurs = Bytes.equal(bytes, fields.path.range, path)
        if !isOurs, !isSendPath(Bytes.text(bytes, fields.path.isAbsent ? 0..<0 : fields.path.range)) {
            throw FCMRejection(.notFound)
        }
        try checkBearer(fields.authorization, bytes, now: now)
        if !isOurs { throw FCMRejection(.permissionDenied) }
        // The service's limit for bodies is far above that of payloads. Longer bodies were not even kept.
        if request.bodyLength > request.body.count { throw .invalid("Android message is too big") }
    }

    private func isSendPath(_ path: String) -> Bool {
        path.hasPrefix("/v1/projects/") && path.hasSuffix("/messages:send")
    }

    private mutating func checkBearer(_ authorization: BytePlace, _ bytes: [UInt8], now: Int64) throws(FCMRejection) {
        if authorization.isAbsent || authorization.count == 0 { throw .missingCredential }
        if isKeyRevoked { throw FCMRejection(.unauthenticated) }
        let range = authorization.range
        if Bytes.equal(bytes, range, bearer) {
            if now < bearerExpiry { return }
            throw FCMRejection(.unauthenticated)
        }
        guard Bytes.hasPrefix(bytes, range, "Bearer ") || Bytes.hasPrefix(bytes, range, "bearer "),
            let expiry = book.expiry(Array(bytes[(range.lowerBound + 7)..<range.upperBound])), now < expiry
        else { throw FCMRejection(.unauthenticated) }
        bearer = Array(bytes[range])
        bearerExpiry = expiry
    }

    private func identify(_ message: FCMMessage, _ body: [UInt8], _ judgement: inout Judgement) {
        judgement.isRecorded = !message.isValidateOnly
        if let token = message.token {
            judgement.key = MessageKey(hashOf: body, token)
            judgement.tokenHash = UInt32(truncatingIfNeeded: judgement.key.high)
        }
        if let id = message.messageID { judgement.key = MessageKey(id: body, id) }
    }

    private func checkDevice(
        _ message: FCMMessage,
        _ body: [UInt8],
        _ judgement: inout Judgement
    ) throws(FCMRejection) {
        guard !devices.isEmpty, let token = message.token, let device = devices[MessageKey(hashOf: body, token)] else {
            return
        }
        switch device {
        case .unregistered, .expired: throw FCMRejection(.unregistered)
        case .deviceTokenNotForTopic: throw FCMRejection(.senderIDMismatch)
        case .badDeviceToken:
            throw .invalid("The registration token is not a valid FCM registration token", field: "message.token")
        case .replaced, .pushType: return
        case .scripted(let script): judgement.scripted = script
        }
    }
}

/// FCM's state for one connection: none, as every request carries its access token.
struct FCMConnectionState {}

/// The positions of the header fields of one `messages:send` request.
struct FCMRequestFields {
    var method = BytePlace.absent
    var path = BytePlace.absent
    var authorization = BytePlace.absent

    /// Finds the fields of a block.
    @inline(__always)
    init(_ headers: HTTP2HeaderBlock, _ bytes: [UInt8]) {
        for index in 0..<headers.count {
            let name = headers.nameRange(index)
            switch name.count {
            case 5 where Bytes.equal(bytes, name, ":path"): path = BytePlace(headers.valueRange(index))
            case 7 where Bytes.equal(bytes, name, ":method"): method = BytePlace(headers.valueRange(index))
            case 13 where Bytes.equal(bytes, name, "authorization"):
                authorization = BytePlace(headers.valueRange(index))
            default: break
            }
        }
    }
}
