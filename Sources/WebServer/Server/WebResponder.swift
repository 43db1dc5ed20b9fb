import HTTPConnections
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import ProcessEvents
import PushCore
import Synchronization

/// Answers requests: the paths of devices by themselves, since there are many of them, all others through Hummingbird's router.
final class WebResponder: Sendable {
    private let registration: RegistrationEndpoint
    private let tracking: TrackingEndpoint
    private let test: TestEndpoint
    private let health: HealthEndpoint
    private let routes: RouterResponder<WebContext>
    private let trust: ProxyTrust
    private let rateLimit: Mutex<AddressRateLimit>
    let admission: ClientAdmission
    private let prefix: String
    private let trackingStart: String
    private let counters: WebCounters
    private let accessLog: AccessLog
    private let logger: Logger
    private let ids = RequestIDs()
    private let date = DateText()

    /// A target longer than this is nobody's: a registration in a query string has a body's worth of parameters.
    private let longestTarget: Int

    private static let forwardedFor = HTTPField.Name("x-forwarded-for") ?? .via

    init(
        registration: RegistrationEndpoint,
        tracking: TrackingEndpoint,
        test: TestEndpoint,
        health: HealthEndpoint,
        routes: RouterResponder<WebContext>,
        trust: ProxyTrust,
        admission: ClientAdmission,
        settings: WebSettings,
        counters: WebCounters,
        accessLog: AccessLog,
        logger: Logger
    ) {
        self.registration = registration
        self.tracking = tracking
        self.test = test
        self.health = health
        self.routes = routes
        self.trust = trust
        self.admission = admission
        self.counters = counters
        self.accessLog = accessLog
        self.logger = logger
        let limits = settings.limits
        rateLimit = Mutex(AddressRateLimit(perSecond: limits.requestsPerSecond, burst: limits.requestBurst))
        longestTarget = limits.maxHeaderKb << 10
        let trimmed = settings.pathPrefix.drop { $0 == "/" }
        prefix = trimmed.isEmpty ? "" : "/" + (trimmed.hasSuffix("/") ? trimmed.dropLast() : trimmed)
        trackingStart = prefix + "/r/?"
    }

    /// What a device asks with a request, if that can be answered without a task of its own: one whose length is known before it is read,
    /// and within the limit.
    func deviceRequest(_ request: HTTPRequest) -> DeviceRequest? {
        guard let path = request.path, request.headerFields[.transferEncoding] == nil else { return nil }
        let length = request.headerFields[.contentLength]
        if request.method == .get { return path.hasPrefix(trackingStart) && length == nil ? .receipt : nil }
        guard request.method == .post, let length, let count = Int(length), count <= registration.mostBytes else {
            return nil
        }
        return switch WebPlace(Self.without(prefix, WebTarget(request).path)) {
        case .registerIOS: .registration(.ios)
        case .registerAndroid: .registration(.android)
        case .tracking, .test, .live, .ready, .api, nil: nil
        }
    }

    /// Whether a request may have one of the connections that are kept for the API: it is one to it, or somebody looks how the process
    /// does.
    func isForAPI(_ request: HTTPRequest) -> Bool {
        switch WebPlace(Self.without(prefix, WebTarget(request).path)) {
        case .api, .live, .ready: true
        case .tracking, .registerIOS, .registerAndroid, .test, nil: false
        }
    }

    /// Counts a request that came through a proxy as a connection of its client, which has none of its own; false if it is one too many.
    private func enter(_ exchange: WebExchange) -> Bool {
        guard exchange.isForwarded, let client = exchange.client else { return true }
        return admission.open(client)
    }

    private func leave(_ exchange: WebExchange) {
        if exchange.isForwarded, let client = exchange.client { admission.close(client) }
    }

    /// Takes up a device's request whose head has come: from now on it counts against its client's limits.
    func begin(_ request: HTTPRequest, _ kind: DeviceRequest, peer: IPAddress?) -> DeviceExchange {
        let exchange = exchange(request, peer)
        let isEntered = enter(exchange)
        let refusal = isEntered ? refusal(request, exchange) : .tooManyAtOnce
        return DeviceExchange(request: request, kind: kind, exchange: exchange, refusal: refusal, isEntered: isEntered)
    }

    /// Answers a device's request without a task of its own: gives the head of the answer and its body, from whatever thread.
    func answer(
        _ device: DeviceExchange,
        body: ByteBuffer,
        _ write: @escaping @Sendable (HTTPResponse, ByteBuffer) -> Void
    ) {
        let finish: @Sendable (WebAnswer) -> Void = { [self] answer in
            giveUp(device)
            write(answer.head(date: date.now(), requestID: device.exchange.id), answer.body)
            log(device.exchange, device.request.method, device.kind.place, answer.status)
        }
        if let refusal = device.refusal { return finish(refusal) }
        let query = WebTarget(device.request).query
        switch device.kind {
        case .receipt: tracking.answer(device.request, query: query, device.exchange, finish)
        case .registration(let platform):
            registration.answer(device.request, query: query, body: body, platform, finish)
        }
    }

    /// A device's request is over, answered or not.
    func giveUp(_ device: DeviceExchange) {
        if device.isEntered { leave(device.exchange) }
    }

    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let exchange = exchange(request.head, channel.remoteAddress.flatMap { IPAddress($0) })
        let target = WebTarget(request.head)
        let path = Self.without(prefix, target.path)
        let place = WebPlace(path)
        let route = RouteName()
        let isEntered = enter(exchange)
        defer { if isEntered { leave(exchange) } }
        let reply =
            isEntered ? try await reply(request, place, target, exchange, channel, route) : .answer(.tooManyAtOnce)
        let date = date.now()
        let status: HTTPResponse.Status
        switch reply {
        case .answer(let answer):
            if request.method == .head {
                // The head says how long the body would be; nothing follows it.
                try await writer.write(response: answer.head(date: date, requestID: exchange.id), body: ResponseBody())
            } else {
                try await writer.write(
                    response: answer.head(date: date, requestID: exchange.id),
                    body: answer.body.readableBytes > 0 ? ResponseBody(byteBuffer: answer.body) : ResponseBody()
                )
            }
            status = answer.status
        case .routed(var response):
            response.headers[.date] = date
            response.headers[WebAnswer.requestIDName] = exchange.id
            status = response.status
            try await writer.write(response: response.head, body: response.body)
        }
        log(exchange, request.method, place, status, route)
    }

    private func log(
        _ exchange: WebExchange,
        _ method: HTTPRequest.Method,
        _ place: WebPlace?,
        _ status: HTTPResponse.Status,
        _ route: RouteName? = nil
    ) {
        counters.answered(place, status.code)
        accessLog.add(
            exchange,
            method: method,
            path: route?.path ?? place?.path ?? "-",
            status: status.code,
            nanoseconds: NIODeadline.now().uptimeNanoseconds &- exchange.startedNanoseconds
        )
    }

    /// What a request is refused with, whatever it asks for; nil if it is not.
    private func refusal(_ request: HTTPRequest, _ exchange: WebExchange) -> WebAnswer? {
        guard isAllowed(exchange) else {
            counters.add { $0.limited += 1 }
            return .tooManyRequests
        }
        return (request.path ?? "").utf8.count <= longestTarget ? nil : .targetTooLong
    }

    private func reply(
        _ request: Request,
        _ place: WebPlace?,
        _ target: WebTarget,
        _ exchange: WebExchange,
        _ channel: any Channel,
        _ route: RouteName
    ) async throws -> WebReply {
        if let refusal = refusal(request.head, exchange) { return .answer(refusal) }
        switch place {
        case .tracking:
            return .answer(
                await withCheckedContinuation { continuation in
                    tracking.answer(request.head, query: target.query, exchange) { continuation.resume(returning: $0) }
                }
            )
        case .registerIOS: return .answer(try await registration.answer(request, target, .ios))
        case .registerAndroid: return .answer(try await registration.answer(request, target, .android))
        case .test: return .answer(test.answer(request, exchange))
        case .live: return .answer(health.live(request))
        case .ready: return .answer(health.ready(request, target))
        case .api: return try await routed(request, exchange, channel, route)
        case nil:
            // What the whole server can do; some look with it whether there is one (RFC 9110, section 9.3.7).
            return .answer(request.method == .options && request.head.path == "*" ? .options : .unknownPath)
        }
    }

    private func routed(
        _ request: Request,
        _ exchange: WebExchange,
        _ channel: any Channel,
        _ route: RouteName
    ) async throws -> WebReply {
        var logger = logger
        logger[metadataKey: "hb.request.id"] = .string(exchange.id)
        let context = WebContext(
            source: WebContext.Origin(
                channel: channel,
                logger: logger,
                requestID: exchange.id,
                limited: exchange.limited,
                route: route
            )
        )
        do {
            let response = try await routes.respond(to: request, context: context)
            // The router's own answer says nothing.
            let isEmpty = response.status == .notFound && response.body.contentLength == 0
            return isEmpty && request.method != .head ? .answer(.unknownPath) : .routed(response)
        } catch let error as any HTTPResponseError {
            return .routed(try error.response(from: request, context: context))
        } catch let error as HTTPParserError {
            throw error
        } catch {
            logger.failure("A request failed", of: error, level: .error)
            return .answer(WebAnswer(.internalServerError, "The request failed; its id is in the log."))
        }
    }

    private func exchange(_ request: HTTPRequest, _ peer: IPAddress?) -> WebExchange {
        let started = NIODeadline.now().uptimeNanoseconds
        guard let peer else {
            return WebExchange(id: ids.next(), client: nil, limited: nil, startedNanoseconds: started)
        }
        guard trust.trusts(peer) else {
            return WebExchange(id: ids.next(), client: peer, limited: peer, startedNanoseconds: started)
        }
        let fields = request.headerFields
        let given = fields[WebAnswer.requestIDName].flatMap { RequestIDs.isSound($0) ? $0 : nil }
        let client = trust.client(of: peer, forwardedFor: fields[Self.forwardedFor])
        return WebExchange(
            id: given ?? ids.next(),
            client: client.address,
            limited: client.isProxy ? nil : client.address,
            startedNanoseconds: started,
            isForwarded: true
        )
    }

    private func isAllowed(_ exchange: WebExchange) -> Bool {
        guard let client = exchange.limited else { return true }
        let seconds = Double(exchange.startedNanoseconds) / 1e9
        return rateLimit.withLock { $0.allow(client, seconds: seconds) }
    }

    private static func without(_ prefix: String, _ path: Substring) -> Substring {
        guard !prefix.isEmpty, path.hasPrefix(prefix + "/") else { return path }
        return path.dropFirst(prefix.count)
    }
}

/// The paths that there are, as the access log names them.
enum WebPlace: Sendable, Hashable {
    case tracking, registerIOS, registerAndroid, test, live, ready
    /// A path below `/api/`, which the router knows.
    case api

    init?(_ path: Substring) {
        switch path {
        case "/r/", "/r": self = .tracking
        case "/nms/mobile/1/registerIOS.jssp": self = .registerIOS
        case "/nms/mobile/1/registerAndroid.jssp": self = .registerAndroid
        case "/r/test", "/r/test/": self = .test
        case "/health/live": self = .live
        case "/health/ready": self = .ready
        default:
            guard path.hasPrefix("/api/") else { return nil }
            self = .api
        }
    }

    /// Its name among metrics.
    var name: String {
        switch self {
        case .tracking: "tracking"
        case .registerIOS: "register_ios"
        case .registerAndroid: "register_android"
        case .test: "test"
        case .live, .ready: "health"
        case .api: "api"
        }
    }

    /// The path, without what a client can put into it.
    var path: String {
        switch self {
        case .tracking: "/r/"
        case .registerIOS: "/nms/mobile/1/registerIOS.jssp"
        case .registerAndroid: "/nms/mobile/1/registerAndroid.jssp"
        case .test: "/r/test"
        case .live: "/health/live"
        case .ready: "/health/ready"
        case .api: "/api/"
        }
    }
}

/// What a device sends so often that it is answered without a task of its own.
enum DeviceRequest: Sendable, Hashable {
    /// That a message was received or clicked.
    case receipt
    /// A registration through the path of a platform.
    case registration(Platform)

    var place: WebPlace {
        switch self {
        case .receipt: .tracking
        case .registration(.ios): .registerIOS
        case .registration(.android): .registerAndroid
        }
    }
}

/// A device's request that is being read or answered.
struct DeviceExchange: Sendable {
    let request: HTTPRequest
    let kind: DeviceRequest
    let exchange: WebExchange
    /// What it is refused with, whatever its body says.
    let refusal: WebAnswer?
    /// Whether it counts as a connection of its client, which came through a proxy.
    let isEntered: Bool
}

/// What a request is answered with.
enum WebReply: Sendable {
    /// One of our short answers.
    case answer(WebAnswer)
    /// What a route of the router made.
    case routed(Response)
}
