import CurlClient
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends batches through libcurl, so many requests at a time; everything here happens on the gateway's event loop.
///
/// libcurl connects, and asks when a connection is ready; only then are messages announced to the owner. So what waits for a
/// connection can be taken back at any time, and a gateway that cannot be reached leaves no message in doubt.
final class FCMLegacyEngine {
    let configuration: FCMLegacyGatewayConfiguration
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
        configuration: FCMLegacyGatewayConfiguration,
        projectKey: FCMProjectKey,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.now = now
        self.delegate = delegate
        url = "https://\(configuration.address.authority)/fcm/send"
        headers = [
            CurlHeader("Authorization", projectKey.authorization), CurlHeader("Content-Type", "application/json"),
        ]
        reports = GatewayReports(gateway: "legacy FCM", address: configuration.address)
        reachability = LegacyReachability(
            firstMilliseconds: configuration.firstBackOffMilliseconds,
            maximumMilliseconds: configuration.maximumBackOffMilliseconds
        )
    }

    var status: GatewayStatus {
        let left = transfers.values.lazy.filter(\.hasLeft).reduce(0) { $0 + $1.request.rows.count }
        let all = transfers.values.reduce(0) { $0 + $1.request.rows.count }
        return GatewayStatus(
            connections: openConnections,
            streamsInFlight: left,
            queued: waiting.messages + all - left,
            streamLimit: configuration.connections * configuration.messagesPerRequest
        )
    }

    func start() {
        isStarted = true
        sendNext()
    }

    // MARK: Messages in

    func submit(_ batch: GatewayRequestBatch) {
        let requests = LegacyRequest.requests(of: batch, mostMessages: configuration.messagesPerRequest)
        guard !isStopping else { return giveBack(requests) }
        waiting.append(requests)
        sendNext()
    }

    /// Hands requests to libcurl, as many as may be on their way.
    private func sendNext() {
        guard isStarted, !isStopping, !reachability.isPausing else { return }
        while transfers.count < (reachability.isReachable ? configuration.connections : 1),
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
            // Only in case that the deadline, which counts from the moment of leaving, is missed.
            timeoutMilliseconds: Int(
                clamping: configuration.connectTimeoutMilliseconds + configuration.requestTimeoutMilliseconds + 60_000
            ),
            connectTimeoutMilliseconds: Int(clamping: max(1, configuration.connectTimeoutMilliseconds)),
            certificateAuthorityFile: configuration.trustRootsFile,
            proxy: configuration.proxy,
            maximumResponseBytes: LegacyAnswer.mostBytes,
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
        guard delegate.departing([GatewayDeparture(batch: request.batch, ranges: request.ranges)]) else {
            cancelQueued()
            return false
        }
        // The owner may have taken it back meanwhile.
        guard transfers[id] != nil else { return false }
        CrashPoint.beforeWrite.reached()
        let engine = NIOLoopBound(self, eventLoop: eventLoop)
        transfers[id]?.leftAt = .now()
        transfers[id]?.deadline = eventLoop.scheduleTask(in: .milliseconds(configuration.requestTimeoutMilliseconds)) {
            engine.value.giveUp(id)
        }
        sendNext()
        return true
    }

    private func connected(_ connection: CurlConnection) {
        if connection.isNew {
            openConnections = min(openConnections + 1, configuration.connections)
            tell(reports.opened(connection.peer))
        }
        reachability.connected()
    }

    private func giveUp(_ id: Int64) {
        if let id = transfers[id]?.id { curl.cancel(id) }
    }

    // MARK: The end of a request

    private func completed(_ id: Int64, _ result: Result<CurlResponse, CurlError>) {
        // What was taken back is settled.
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

    /// No connection came about, so the request waits for the next attempt.
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

    /// Gives back what has not left.
    func cancelQueued() {
        var requests: [LegacyRequest] = []
        for (id, transfer) in transfers.sorted(by: { $0.key < $1.key }) where !transfer.hasLeft {
            transfers[id] = nil
            if let id = transfer.id { curl.cancel(id) }
            requests.append(transfer.request)
        }
        giveBack(requests + waiting.takeAll())
    }

    /// Takes nothing more; done when what has left is settled, which its deadline sees to.
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
