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

/// Answers requests: the frequent ones of devices directly, all others through Hummingbird's router.
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

    /// The maximum length of a target in bytes. A registration may have all its parameters in the query string.
    private let maxTargetLength: Int

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
        maxTargetLength = limits.maxHeaderKb << 10
        let trimmed = settings.pathPrefix.drop { $0 == "/" }
        prefix = trimmed.isEmpty ? "" : "/" + (trimmed.hasSuffix("/") ? trimmed.dropLast() : trimmed)
        trackingStart = prefix + "/r/?"
    }

    /// The device request in a request, if it can be answered without its own task: its length must be known in advance
    /// and within the limit.
    func deviceRequest(_ request: HTTPRequest) -> DeviceRequest? {
        guard let path = request.path, request.headerFields[.transferEncoding] == nil else { return nil }
        let length = request.headerFields[.contentLength]
        if request.method == .get { return path.hasPrefix(trackingStart) && length == nil ? .receipt : nil }
        guard request.method == .post, let length, let count = Int(length), count <= registration.maxBytes else {
            return nil
        }
        return switch WebPlace(Self.without(prefix, WebTarget(request).path)) {
        case .registerIOS: .registration(.ios)
        case .registerAndroid: .registration(.android)
        case .tracking, .test, .live, .ready, .api, nil: nil
        }
    }

    /// Whether a request may use a connection reserved for the API: it is for the API or for a health page.
    func isForAPI(_ request: HTTPRequest) -> Bool {
        switch WebPlace(Self.without(prefix, WebTarget(request).path)) {
        case .api, .live, .ready: true
        case .tracking, .registerIOS, .registerAndroid, .test, nil: false
        }
    }

    /// Counts a request that came through a proxy as a connection of its client, which has none itself; false if it
    /// exceeds the limit.
    private func enter(_ exchange: WebExchange) -> Bool {
        guard exchange.isForwarded, let client = exchange.client else { return true }
        return admission.open(client)
    }

    private func leave(_ exchange: WebExchange) {
        if exchange.isForwarded, let client = exchange.client { admission.close(client) }
    }

    /// Begins a device's request whose head was read; from now on it counts against its client's limits.
    func begin(_ request: HTTPRequest, _ kind: DeviceRequest, peer: IPAddress?) -> DeviceExchange {
        let exchange = exchange(request, peer)
        let isEntered = enter(exchange)
        let refusal = isEntered ? refusal(request, exchange) : .tooManyAtOnce
        return DeviceExchange(request: request, kind: kind, exchange: exchange, refusal: refusal, isEntered: isEntered)
    }

    /// Answers a device's request without its own task; calls `write` with the response's head and body, on any thread.
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

    /// Ends a device's request, answered or not.
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
                // The head contains the length of the body, but no body follows.
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

    /// The refusal of a request regardless of its path; nil if it is accepted.
    private func refusal(_ request: HTTPRequest, _ exchange: WebExchange) -> WebAnswer? {
        guard isAllowed(exchange) else {
            counters.add { $0.limited += 1 }
            return .tooManyRequests
        }
        return (request.path ?? "").utf8.count <= maxTargetLength ? nil : .targetTooLong
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
            // OPTIONS * asks for the server's capabilities; some clients probe the server with it (RFC 9110, section
            // 9.3.7).
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
            // The router's own 404 has no body.
            let isEmpty = response.status == .notFound && response.body.contentLength == 0
            return isEmpty && request.method != .head ? .answer(.unknownPath) : .routed(response)
        } catch let error as any HTTPResponseError {
            return .routed(try error.response(from: request, context: context))
        } catch let error as HTTPParserError {
            throw error
        } catch {
            logger.failure("A request failed", of: error, level: .error)
            return .answer(WebAnswer(.internalServerError, "The request failed; the log has its id."))
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

/// A device request that is so frequent that it is answered without its own task.
enum DeviceRequest: Sendable, Hashable {
    /// A message was received or clicked.
    case receipt
    /// A registration on a platform's path.
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
    /// The refusal, if any, regardless of the body.
    let refusal: WebAnswer?
    /// Whether it was counted as a connection of its client behind a proxy.
    let isEntered: Bool
}

/// The response to a request.
enum WebReply: Sendable {
    /// A short response.
    case answer(WebAnswer)
    /// The response of a route.
    case routed(Response)
}
