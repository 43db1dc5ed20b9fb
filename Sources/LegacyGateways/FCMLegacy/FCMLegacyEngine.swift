import CurlClient
import Dispatch
import Gateways
import HTTP2
import NIOCore
import PushCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends batches through libcurl with a limited number of concurrent requests; everything here happens on the gateway's
/// event loop.
///
/// libcurl connects and asks when a connection is ready; only then are messages announced to the owner. So messages
/// that wait for a connection can be withdrawn at any time, and an unreachable gateway leaves no message ambiguous.
final class FCMLegacyEngine {
    let options: GatewayOptions
    private let proxy: CurlProxy
    let eventLoop: any EventLoop
    let now: @Sendable () -> Date
    let delegate: any GatewayDelegate
    private let curl = CurlClient()
    private let url: String
    private let headers: [CurlHeader]
    var reports: GatewayReports
    private var reachability: LegacyReachability
    private var waiting = LegacyQueue()
    private var transfers: [Int64: LegacyTransfer] = [:]
    private var lastTransfer: Int64 = 0
    private var openConnections = 0
    private var isStarted = false
    private var isStopping = false
    private var ended: EventLoopPromise<Void>?

    init(
        options: GatewayOptions,
        projectKey: FCMProjectKey,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.options = options
        proxy = options.proxy?.curl(for: options.address.host) ?? .none
        self.eventLoop = eventLoop
        self.now = now
        self.delegate = delegate
        url = "https://\(options.address.authority)/fcm/send"
        headers = [
            CurlHeader("Authorization", projectKey.authorization), CurlHeader("Content-Type", "application/json"),
        ]
        reports = GatewayReports(gateway: "legacy FCM", address: options.address)
        reachability = LegacyReachability(
            firstMilliseconds: options.connections.firstBackOffMilliseconds,
            maxMilliseconds: options.connections.maxBackOffMilliseconds
        )
    }

    var status: GatewayStatus {
        let left = transfers.values.lazy.filter(\.hasLeft).reduce(0) { $0 + $1.request.rows.count }
        let all = transfers.values.reduce(0) { $0 + $1.request.rows.count }
        return GatewayStatus(
            connections: openConnections,
            streamsInFlight: left,
            queued: waiting.messages + all - left,
            streamLimit: options.legacyRequests * LegacyRequest.maxMessages
        )
    }

    func start() {
        isStarted = true
        sendNext()
    }

    // MARK: Messages in

    func submit(_ batch: GatewayRequestBatch) {
        let requests = LegacyRequest.requests(of: batch, maxMessages: LegacyRequest.maxMessages)
        guard !isStopping else { return giveBack(requests) }
        waiting.append(requests)
        sendNext()
    }

    /// Passes requests to libcurl, up to the limit of concurrent ones.
    private func sendNext() {
        guard isStarted, !isStopping, !reachability.isPausing else { return }
        while transfers.count < (reachability.isReachable ? options.legacyRequests : 1),
            let request = waiting.popFirst()
        {
            send(request)
        }
    }

    private func send(_ request: LegacyRequest) {
        guard let body = request.body else { return refuse(request) }
        lastTransfer += 1
        let id = lastTransfer
        transfers[id] = LegacyTransfer(request: request)
        let engine = NIOLoopBound(self, eventLoop: eventLoop)
        let eventLoop = eventLoop
        let curlID = curl.start(
            curlRequest(body),
            mayLeave: { connection in
                LegacyDepartureQuestion.ask(on: eventLoop) { engine.value.mayLeave(id, connection) }
            },
            completion: { result in eventLoop.execute { engine.value.completed(id, result) } }
        )
        transfers[id]?.id = curlID
    }

    private func curlRequest(_ body: [UInt8]) -> CurlRequest {
        CurlRequest(
            method: "POST",
            url: url,
            headers: headers,
            body: body,
            // Only a fallback in case the deadline, which counts from the moment of leaving, is missed.
            timeoutMilliseconds: Int(
                clamping: options.connections.connectTimeoutMilliseconds
                    + options.connections.requestTimeoutMilliseconds
                    + 60_000
            ),
            connectTimeoutMilliseconds: Int(clamping: max(1, options.connections.connectTimeoutMilliseconds)),
            certificateAuthorityFile: options.trustRootsFile,
            proxy: proxy,
            maxResponseBytes: LegacyAnswer.maxBytes,
            reusesConnection: true
        )
    }

    // MARK: The moment of leaving

    /// A connection is ready for a request: asks the owner.
    private func mayLeave(_ id: Int64, _ connection: CurlConnection) -> Bool {
        guard let transfer = transfers[id] else { return false }
        transfer.deadline?.cancel()
        transfers[id]?.leftAt = nil
        connected(connection)
        let request = transfer.request
        guard delegate.aboutToSend([GatewayDeparture(batch: request.batch, ranges: request.ranges)]) else {
            cancelQueued()
            return false
        }
        // The owner may have withdrawn it meanwhile.
        guard transfers[id] != nil else { return false }
        CrashPoint.beforeWrite.reached()
        let engine = NIOLoopBound(self, eventLoop: eventLoop)
        transfers[id]?.leftAt = .now()
        transfers[id]?.deadline = eventLoop.scheduleTask(
            in: .milliseconds(options.connections.requestTimeoutMilliseconds)
        ) {
            engine.value.giveUp(id)
        }
        sendNext()
        return true
    }

    private func connected(_ connection: CurlConnection) {
        if connection.isNew {
            openConnections = min(openConnections + 1, options.legacyRequests)
            tell(reports.opened(connection.peer))
        }
        reachability.connected()
    }

    private func giveUp(_ id: Int64) {
        if let id = transfers[id]?.id { curl.cancel(id) }
    }

    // MARK: The end of a request

    private func completed(_ id: Int64, _ result: Result<CurlResponse, CurlError>) {
        // A withdrawn request is resolved.
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        transfer.deadline?.cancel()
        switch result {
        case .success(let response): answered(transfer, response)
        case .failure(let error) where transfer.hasLeft:
            openConnections = max(0, openConnections - 1)
            unanswered(transfer, error)
            tell(reports.closed(Self.cause(error)))
        case .failure(let error): notConnected(transfer.request, error)
        }
        sendNext()
        if isStopping, transfers.isEmpty { ended?.succeed() }
    }

    /// No connection could be made, so the request waits for the next attempt.
    private func notConnected(_ request: LegacyRequest, _ error: CurlError) {
        waiting.putBack(request)
        guard let next = reachability.failed() else { return }
        tell(reports.dialFailed(Self.cause(error), next.attempt, next.milliseconds))
        let engine = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.scheduleTask(in: .milliseconds(next.milliseconds)) { engine.value.pauseEnded() }
    }

    private func pauseEnded() {
        reachability.paused()
        sendNext()
    }

    /// Ends the pause between attempts to connect.
    func retryNow() {
        reachability.retryNow()
        sendNext()
    }

    private static func cause(_ error: CurlError) -> String {
        error.cause.isEmpty ? error.message : error.cause
    }

    // MARK: Taking back, and the end

    /// Returns requests that have not left.
    func cancelQueued() {
        var requests: [LegacyRequest] = []
        for (id, transfer) in transfers.sorted(by: { $0.key < $1.key }) where !transfer.hasLeft {
            transfers[id] = nil
            if let id = transfer.id { curl.cancel(id) }
            requests.append(transfer.request)
        }
        giveBack(requests + waiting.takeAll())
    }

    /// Accepts nothing more; done when all requests that have left are resolved, at the latest by their deadline.
    func stop() -> EventLoopFuture<Void> {
        isStopping = true
        let promise = ended ?? eventLoop.makePromise(of: Void.self)
        ended = promise
        cancelQueued()
        if transfers.isEmpty { promise.succeed() }
        return promise.futureResult
    }

    func tell(_ event: GatewayEvent?) {
        if let event, !isStopping { delegate.gatewayEvent(event) }
    }
}

/// A request in libcurl: it waits for its connection, or is on the wire.
struct LegacyTransfer {
    let request: LegacyRequest
    /// libcurl's identifier for it.
    var id: CurlTransferID?
    /// When it left; nil until then.
    var leftAt: NIODeadline?
    /// Gives it up if no answer comes.
    var deadline: Scheduled<Void>?

    var hasLeft: Bool { leftAt != nil }

    /// The time since it left, in microseconds; 0 if it has not.
    func latency(now: NIODeadline) -> UInt32 {
        leftAt.map { UInt32(clamping: (now - $0).nanoseconds / 1_000) } ?? 0
    }
}

/// Requests that wait for a free connection, first in, first out.
struct LegacyQueue {
    private var requests: ArraySlice<LegacyRequest> = []
    /// The number of messages that they carry.
    private(set) var messages = 0

    /// Queues requests after the others.
    mutating func append(_ more: [LegacyRequest]) {
        requests.append(contentsOf: more)
        messages += more.reduce(0) { $0 + $1.rows.count }
    }

    /// Puts a request that could not be sent at the front of the queue.
    mutating func putBack(_ request: LegacyRequest) {
        requests.insert(request, at: requests.startIndex)
        messages += request.rows.count
    }

    mutating func popFirst() -> LegacyRequest? {
        guard let first = requests.popFirst() else { return nil }
        messages -= first.rows.count
        return first
    }

    mutating func takeAll() -> [LegacyRequest] {
        defer { self = LegacyQueue() }
        return Array(requests)
    }
}

/// Whether the gateway appears reachable, and when to try again if not.
struct LegacyReachability {
    /// Whether the last attempt to connect succeeded; before the first attempt and after a failed one, only one request
    /// is tried.
    private(set) var isReachable = false
    /// Whether a pause between two attempts is in effect.
    private(set) var isPausing = false
    private var backOff: BackOff

    /// - Parameters: the first and the longest pause, in milliseconds.
    init(firstMilliseconds: Int64, maxMilliseconds: Int64) {
        let first = Duration.milliseconds(max(1, firstMilliseconds))
        backOff = BackOff(initial: first, maximum: max(first, .milliseconds(maxMilliseconds)), floor: first / 2)
    }

    mutating func connected() {
        isReachable = true
        backOff.reset()
    }

    /// No connection could be made. Returns the number of the attempt and the pause to make now in milliseconds; nil if
    /// a pause is already in effect.
    mutating func failed() -> (attempt: Int, milliseconds: Int64)? {
        isReachable = false
        guard !isPausing else { return nil }
        isPausing = true
        let pause = backOff.next()
        return (backOff.failures, Int64(pause / .milliseconds(1)))
    }

    /// The cause of the failure was fixed.
    mutating func retryNow() {
        isPausing = false
        backOff.reset()
    }

    /// The pause is over.
    mutating func paused() {
        isPausing = false
    }
}

/// Lets libcurl's thread ask the gateway's event loop whether a request may leave, and wait for the answer.
final class LegacyDepartureQuestion: Sendable {
    private enum State {
        case open
        case beingDecided
        case decided(Bool)
        case abandoned
    }

    /// An event loop that does not answer for this long has ended or is useless: its lease expires long before.
    private static let timeout = DispatchTimeInterval.seconds(60)

    private let state = Mutex(State.open)
    private let semaphore = DispatchSemaphore(value: 0)

    /// Asks; not to be called on the event loop.
    static func ask(on eventLoop: any EventLoop, _ decide: @escaping @Sendable () -> Bool) -> Bool {
        let question = LegacyDepartureQuestion()
        eventLoop.execute { question.answer(decide) }
        return question.wait()
    }

    private func answer(_ decide: () -> Bool) {
        let isAwaited = state.withLock { state in
            guard case .open = state else { return false }
            state = .beingDecided
            return true
        }
        // The asking thread no longer waits, so the request does not leave.
        guard isAwaited else { return }
        let decision = decide()
        state.withLock { $0 = .decided(decision) }
        semaphore.signal()
    }

    private func wait() -> Bool {
        if semaphore.wait(timeout: .now() + Self.timeout) == .timedOut {
            let isBeingDecided = state.withLock { state in
                if case .open = state {
                    state = .abandoned
                    return false
                }
                return true
            }
            guard isBeingDecided else { return false }
            semaphore.wait()
        }
        return state.withLock { state in
            if case .decided(let decision) = state { return decision }
            return false
        }
    }
}
