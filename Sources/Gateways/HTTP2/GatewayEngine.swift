import HTTP2
import NIOCore
import PushCore

/// A gateway over HTTP/2: batches in, outcomes by batch out.
///
/// A ``GatewayDialect`` each has the APNs and the FCM specifics. An owner's calls hop to the event loop once;
/// everything else happens there. The engine stays alive and connected until ``shutdown()``.
package final class GatewayEngine: Gateway {
    /// What happens to requests that the connections return unsent.
    private enum GivenBack {
        /// They are resolved as unprocessed.
        case resolve
        /// They are built again with the current token.
        case makeAnew
        /// They are resolved as refused.
        case refuse(TokenFailure)
    }

    /// The mutable state.
    private final class State {
        let dialect: any GatewayDialect
        /// The delegate; nil after the end.
        var delegate: (any GatewayDelegate)?
        /// The connections, from start to shutdown.
        var pool: HTTP2ClientPool?
        var flights: [Int64: Flight] = [:]
        var lastTag: Int64 = 0
        var waiting: [WaitingRows] = []
        var waitingCount = 0
        var givenBack = GivenBack.resolve
        var toMakeAnew: [WaitingRows] = []
        var isStopping = false
        /// The generation of the token that messages were sent with last; 0 before the first.
        var lastGeneration = 0
        var reports: GatewayReports
        /// The tracer; usually nil.
        var tracer: (any GatewayTracer)?

        init(_ dialect: any GatewayDialect, _ delegate: any GatewayDelegate, address: GatewayAddress) {
            self.dialect = dialect
            self.delegate = delegate
            reports = GatewayReports(gateway: dialect.name, address: address)
        }
    }

    /// The maximum number of messages that wait for a token; further ones are returned at once. 65,536 of them take
    /// about 30 MB.
    private static let maxWaiting = 65_536

    package let payloadFormat: PayloadFormat
    package let limits: GatewayLimits
    package let answers: GatewayAnswers
    package let project: String?
    private let configuration: HTTP2ClientConfiguration
    private let eventLoop: any EventLoop
    private let bound: NIOLoopBoundBox<State>
    /// May be read on the event loop only.
    private var state: State { bound.value }

    /// - Parameters:
    ///   - project: the FCM project that messages count against.
    ///   - dialect: made on any thread, used on the event loop only.
    init(
        _ payloadFormat: PayloadFormat,
        _ limits: GatewayLimits,
        address: GatewayAddress,
        configuration: HTTP2ClientConfiguration,
        project: String? = nil,
        dialect: sending any GatewayDialect,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.payloadFormat = payloadFormat
        self.limits = limits
        answers = dialect.answers
        self.project = project
        self.configuration = configuration
        self.eventLoop = eventLoop
        let made = State(dialect, delegate, address: address)
        bound = .makeBoxSendingValue(made, as: State.self, eventLoop: eventLoop)
    }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
    }

    // MARK: From any thread

    package func start() async throws {
        try await eventLoop.submit { try self.connect() }.get()
    }

    package func submit(_ batch: GatewayRequestBatch) {
        onLoop { self.take(WaitingRows(batch: batch)) }
    }

    package func cancelQueued() {
        onLoop { self.giveBackQueued() }
    }

    package func retryNow() {
        onLoop {
            self.state.dialect.retryNow()
            self.state.pool?.retryNow()
        }
    }

    package func status() async -> GatewayStatus {
        let seen = try? await eventLoop.submit { (pool: self.state.pool, waiting: self.state.waitingCount) }.get()
        let waiting = seen?.waiting ?? 0
        guard let status = await seen?.pool?.status() else { return GatewayStatus(queued: waiting) }
        return GatewayStatus(
            connections: status.connections,
            streamsInFlight: status.streamsInFlight,
            queued: status.queued + waiting,
            streamLimit: status.streamLimit,
            wanted: status.size.target,
            reason: status.size.reason.rawValue,
            maximum: status.size.maximum
        )
    }

    package func ping(timeout: Duration) async -> Bool? {
        let pool = try? await eventLoop.submit { self.state.pool }.get()
        return await pool?.ping(timeoutMilliseconds: Int64(timeout / .milliseconds(1)))
    }

    package func trace(with tracer: (any GatewayTracer)?) -> Bool {
        onLoop { self.state.tracer = tracer }
        return true
    }

    package func giveUp(olderThan age: Duration) {
        onLoop { self.state.pool?.giveUp(olderThanMilliseconds: Int64(age / .milliseconds(1))) }
    }

    package func shutdown() async {
        let pool = try? await eventLoop.submit { self.beginStopping() }.get()
        await pool?.shutdown()
        try? await eventLoop.submit { self.letGo() }.get()
    }

    // MARK: Messages in

    private func connect() throws {
        let state = state
        guard state.pool == nil, !state.isStopping else { return }
        let pool = HTTP2ClientPool(configuration: configuration, eventLoop: eventLoop, delegate: self)
        try pool.begin()
        state.pool = pool
        state.dialect.start { [weak self] in self?.tokenChanged($0) }
        for waitingRows in takeWaiting() { take(waitingRows) }
    }

    private func take(_ waitingRows: WaitingRows) {
        guard waitingRows.count > 0 else { return }
        let state = state
        if state.isStopping { return resolve([waitingRows], .unprocessed, reason: NoAnswerReason.cancelled) }
        // Messages submitted before the start, or after a failed one, are kept until they are sent or withdrawn.
        guard let pool = state.pool else { return wait(waitingRows) }
        switch state.dialect.authorization() {
        case .ready(let token):
            if state.dialect.bindsTokenToConnection, state.lastGeneration != 0,
                token.generation > state.lastGeneration
            {
                return startAnew(with: waitingRows)
            }
            send(waitingRows, token, over: pool)
        case .waiting: wait(waitingRows)
        case .refused(let failure): refuse([waitingRows], failure)
        }
    }

    private func send(_ waitingRows: WaitingRows, _ token: AuthorizationToken, over pool: HTTP2ClientPool) {
        let state = state
        state.lastGeneration = token.generation
        let made = state.dialect.flights(waitingRows.batch, rows: waitingRows.rows, token: token) {
            state.lastTag += 1
            return state.lastTag
        }
        for flight in made {
            state.flights[flight.requests.tag] = flight
            flight.requests.isUrgent = waitingRows.batch.isUrgent
            if let tracer = state.tracer { choose(from: flight, for: tracer) }
            pool.submit(flight.requests)
        }
    }

    private func wait(_ waitingRows: WaitingRows) {
        let state = state
        guard state.waitingCount + waitingRows.count <= Self.maxWaiting else {
            return resolve([waitingRows], .unprocessed, reason: NoAnswerReason.queueFull)
        }
        state.waitingCount += waitingRows.count
        state.waiting.append(waitingRows)
    }

    private func takeWaiting() -> [WaitingRows] {
        let state = state
        defer {
            state.waiting = []
            state.waitingCount = 0
        }
        return state.waiting
    }

    // MARK: Tokens

    private func tokenChanged(_ change: AccessTokenRefresh.Change) {
        let state = state
        switch change {
        case .ready:
            tell(state.reports.tokenReady())
            for waitingRows in takeWaiting() { take(waitingRows) }
        case .refused(let failure):
            tell(state.reports.tokenRefused(failure))
            refuse(takeWaiting(), failure)
            takeBackQueued(.refuse(failure))
        case .unavailable(let failure, let delay):
            tell(state.reports.tokenUnavailable(failure, retryInMilliseconds: delay))
        }
    }

    private func refuse(_ rows: [WaitingRows], _ failure: TokenFailure) {
        resolve(rows, .stopApplication, status: failure.status, reason: failure.reason, applicationWide: true)
    }

    /// Sends waiting messages and these with the current token, on new connections if the gateway requires that.
    private func startAnew(with waitingRows: WaitingRows?) {
        let state = state
        if case .ready(let token) = state.dialect.authorization() { state.lastGeneration = token.generation }
        // The connections are replaced first, so that none of the old ones gets the new token.
        if state.dialect.bindsTokenToConnection { state.pool?.retireConnections() }
        if let waitingRows { state.toMakeAnew.append(waitingRows) }
        takeBackQueued(.makeAnew)
    }

    /// Withdraws unsent messages and treats them as the mode says.
    ///
    /// The pool works in the order of the loop's tasks, so the mode is set around the pool's own task.
    private func takeBackQueued(_ mode: GivenBack) {
        let loop = eventLoop.assumeIsolated()
        loop.execute { [weak self] in self?.state.givenBack = mode }
        state.pool?.cancelQueued()
        loop.execute { [weak self] in
            guard let self else { return }
            state.givenBack = .resolve
            let rows = state.toMakeAnew
            state.toMakeAnew = []
            for waitingRows in rows { take(waitingRows) }
        }
    }

    // MARK: Messages out

    package func completed(_ completions: [HTTP2Completion]) {
        let state = state
        if let tracer = state.tracer { show(completions, to: tracer) }
        var resolved = ResolvedBatches(expected: completions.count)
        var work = FollowUp()
        var flight: Flight?
        for completion in completions {
            if flight == nil || flight?.requests !== completion.batch { flight = state.flights[completion.batch.tag] }
            guard let flight else { continue }
            flight.open -= 1
            if flight.open == 0 { state.flights[flight.requests.tag] = nil }
            if let outcome = outcome(of: completion, flight, state, &work) {
                resolved.add(outcome, completion.latencyMicroseconds, flight.batch)
            }
        }
        if !resolved.all.isEmpty { state.delegate?.resolved(resolved.all) }
        follow(work)
    }

    private func outcome(
        of completion: HTTP2Completion,
        _ flight: Flight,
        _ state: State,
        _ work: inout FollowUp
    ) -> Outcome? {
        let row = flight.row(completion.index)
        switch completion.result {
        case .response(let response) where response.status == 200:
            guard let outcome = state.dialect.accepted(response, row: row, flight: flight) else {
                return malformed(row)
            }
            work.hasAccepted = true
            return outcome
        case .response(let response):
            let decision = state.dialect.refused(response, row: row, flight: flight)
            work.note(decision, of: flight.batch.deliveryID)
            return decision.outcome
        case .unprocessed(let failure):
            return unprocessed(failure, row, flight)
        case .ambiguous(let failure):
            return unanswered(row, .ambiguous, failure.cause)
        }
    }

    private func unprocessed(_ failure: HTTP2Failure, _ row: Int32, _ flight: Flight) -> Outcome? {
        if failure.cause == .cancelled {
            let state = state
            switch state.givenBack {
            case .resolve: break
            case .makeAnew:
                if let last = state.toMakeAnew.last, last.batch === flight.batch, last.rows != nil {
                    state.toMakeAnew[state.toMakeAnew.count - 1].rows?.append(row)
                } else {
                    state.toMakeAnew.append(WaitingRows(batch: flight.batch, rows: [row]))
                }
                return nil
            case .refuse(let failure):
                return Outcome(
                    index: row,
                    outcomeClass: .stopApplication,
                    status: failure.status,
                    reason: failure.reason,
                    applicationWide: true,
                    neverLeft: true
                )
            }
        }
        return unanswered(row, .unprocessed, failure.cause)
    }

    private func follow(_ work: FollowUp) {
        let state = state
        if work.hasAccepted, state.reports.isInTrouble { tell(state.reports.accepted()) }
        if !work.texts.isEmpty { state.delegate?.refused(work.texts) }
        for decision in work.decisions { tell(state.reports.answer(decision)) }
        if work.decisions.contains(where: { $0.row.application == .pause }) { state.pool?.backOff() }
        if work.makesWaitingAnew {
            startAnew(with: nil)
        } else if work.replacesConnections, state.reports.mayReplaceConnections() {
            state.pool?.retireConnections()
        }
    }

    /// Resolves messages that were not passed to the connections.
    private func resolve(
        _ rows: [WaitingRows],
        _ outcomeClass: OutcomeClass,
        status: Int16 = 0,
        reason: String,
        applicationWide: Bool = false
    ) {
        for waitingRows in rows {
            let outcomes = waitingRows.indexes.map { index in
                Outcome(
                    index: index,
                    outcomeClass: outcomeClass,
                    status: status,
                    reason: reason,
                    applicationWide: applicationWide,
                    neverLeft: true
                )
            }
            let latencies = [UInt32](repeating: 0, count: outcomes.count)
            state.delegate?.resolved(waitingRows.batch, outcomes, latencyMicroseconds: latencies)
        }
    }

    private func tell(_ event: GatewayEvent?) {
        if let event { state.delegate?.gatewayEvent(event) }
    }

    // MARK: Connections and the end

    package func connectionEvent(_ event: HTTP2ConnectionEvent) {
        let state = state
        guard !state.isStopping else { return }
        switch event {
        case .opened(let address): tell(state.reports.opened(address))
        case .dialFailed(let reason, let attempt, let delay):
            tell(state.reports.certificateRefused(reason) ?? state.reports.dialFailed(reason, attempt, delay))
        case .limitChanged(let streams): tell(state.reports.limited(streams))
        case .capacityChanged(let streams): state.delegate?.capacityChanged(streams)
        case .goAway(let code, _, let debugData, let wasInUse): goAway(code, debugData, wasInUse)
        case .closed(let reason): tell(state.reports.closed(reason))
        }
    }

    private func goAway(_ code: HTTP2ErrorCode, _ debugData: [UInt8], _ wasInUse: Bool) {
        let state = state
        var (reason, row) = state.dialect.goAway(debugData: debugData)
        // A replaced connection may carry an older token; its answers say nothing about the current one.
        let isRejected = row.application == .renewToken && wasInUse && state.lastGeneration > 0
        let makesWaitingAnew = isRejected && state.dialect.tokenRejected(generation: state.lastGeneration, &row)
        tell(state.reports.goAway(code, reason, row))
        if makesWaitingAnew { startAnew(with: nil) }
    }

    /// Returns unwritten messages.
    private func giveBackQueued() {
        resolve(takeWaiting(), .unprocessed, reason: NoAnswerReason.cancelled)
        state.pool?.cancelQueued()
    }

    /// Accepts no more messages.
    /// - Returns: the connections, whose end resolves the messages on the wire.
    private func beginStopping() -> HTTP2ClientPool? {
        state.isStopping = true
        state.dialect.stop()
        giveBackQueued()
        return state.pool
    }

    /// Releases the owner, and the connections, which retain this engine.
    private func letGo() {
        state.pool = nil
        state.delegate = nil
    }
}

/// Passes the connections' departures to the owner, in the owner's terms.
extension GatewayEngine: HTTP2ClientDelegate {
    package func aboutToSend(_ requests: [HTTP2Departure]) -> Bool {
        let state = state
        var departures: [GatewayDeparture] = []
        for departure in requests {
            guard let flight = state.flights[departure.batch.tag] else { continue }
            // A batch can have several flights, which usually follow one another.
            if departures.last?.batch !== flight.batch {
                departures.append(GatewayDeparture(batch: flight.batch, ranges: []))
            }
            flight.appendRows(departure.range, to: &departures[departures.count - 1].ranges)
        }
        // Without an owner, the answers would be lost.
        guard let delegate = state.delegate, delegate.aboutToSend(departures) else { return false }
        CrashPoint.beforeWrite.reached()
        return true
    }
}

/// Tracing.
extension GatewayEngine {
    /// Notes which messages are to be traced, before they leave.
    private func choose(from flight: Flight, for tracer: any GatewayTracer) {
        let tokens = flight.batch.tokens
        flight.watched = tracer.choose(from: flight.requests.count, ofDelivery: flight.batch.deliveryID) {
            tokens[Int(flight.row(Int32($0)))]
        }
        if !flight.watched.isEmpty { flight.requests.keepAnswerFields(of: flight.watched.keys) }
    }

    /// Passes ended exchanges to their traces, before their outcomes are reported.
    private func show(_ completions: [HTTP2Completion], to tracer: any GatewayTracer) {
        let state = state
        var flight: Flight?
        for completion in completions {
            if flight == nil || flight?.requests !== completion.batch { flight = state.flights[completion.batch.tag] }
            // Most messages are not traced: a lookup per index would cost a hash per message.
            guard let flight, !flight.watched.isEmpty,
                let traces = flight.watched.removeValue(forKey: completion.index)
            else { continue }
            // A request that was never written was not on the wire.
            guard completion.latencyMicroseconds > 0 else { continue }
            let token = flight.batch.tokens[Int(flight.row(completion.index))]
            tracer.saw(CopiedExchange(completion, deliveryID: flight.batch.deliveryID, token: token), for: traces)
        }
    }
}

/// Outcomes of messages without an answer from the gateway.
extension GatewayEngine {
    private func unanswered(_ row: Int32, _ outcomeClass: OutcomeClass, _ cause: HTTP2Failure.Cause) -> Outcome {
        let isWritten = outcomeClass == .ambiguous
        let reason = NoAnswerReason.text(cause, isWritten: isWritten)
        let meaning = answers.noAnswer(reason: reason, isWritten: isWritten)
        return Outcome(
            index: row,
            outcomeClass: outcomeClass,
            reason: reason,
            failure: meaning.failure,
            neverLeft: cause == .cancelled
        )
    }

    /// A 200 that is not the gateway's: a proxy or a page in its place accepted the message or discarded it.
    private func malformed(_ row: Int32) -> Outcome {
        let meaning = answers.malformed
        return Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            status: 200,
            reason: NoAnswerReason.malformed,
            failure: meaning.failure
        )
    }
}

/// Messages of one batch that wait for a token.
struct WaitingRows {
    var batch: GatewayRequestBatch
    /// The rows that wait; nil for all.
    var rows: [Int32]?

    var count: Int { rows?.count ?? batch.count }

    /// The rows that wait, spelled out.
    var indexes: [Int32] { rows ?? Array(0..<Int32(batch.count)) }
}

extension HTTP2ClientConfiguration {
    /// Constants of all HTTP/2 gateways.
    init(_ options: GatewayOptions, identity: HTTP2TLSIdentity? = nil, initialMaxConcurrentStreams: Int) {
        self.init(
            host: options.address.host,
            port: options.address.port,
            connections: options.connections,
            tls: HTTP2TLS(trustRootsFile: options.trustRootsFile, identity: identity),
            initialMaxConcurrentStreams: initialMaxConcurrentStreams
        )
        // The client opens between one and this many, as rate and latency require.
        connections.fewest = 1
        proxy = options.proxy?.http2(for: options.address.host)
    }
}
