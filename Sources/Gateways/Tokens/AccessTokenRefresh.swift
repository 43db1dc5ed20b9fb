import NIOCore

/// Holds a service account's access token on the gateway's event loop: executes the decisions of ``AccessTokenState``.
final class AccessTokenRefresh {
    private let fetcher: AccessTokenFetcher
    private let eventLoop: any EventLoop
    private var state = AccessTokenState()
    private var isStopped = false
    /// Called when waiting messages can leave or must be returned, or when the operator must be informed.
    var onChange: ((Change) -> Void)?

    /// What the gateway must know.
    enum Change {
        case ready(isFirst: Bool)
        case refused(TokenFailure)
        case unavailable(TokenFailure, retryInMilliseconds: Int64)
    }

    private var hadToken = false

    init(fetcher: AccessTokenFetcher, eventLoop: any EventLoop) {
        self.fetcher = fetcher
        self.eventLoop = eventLoop
    }

    /// Whether the current token replaced a refused one and has not been accepted yet.
    var isUnproven: Bool { state.isUnproven }

    /// Returns the token to send with now.
    func authorization() -> Authorization {
        if let token = state.usable(at: now()) {
            handle(.needed, tellsUse: false)
            return .ready(token)
        }
        handle(.needed, tellsUse: false)
        if let failure = state.refusal(at: now()) { return .refused(failure) }
        return .waiting
    }

    /// Fetches the first token before a message needs it.
    func start() {
        handle(.needed)
    }

    /// FCM refused the token of this generation; returns why sending has to stop, nil if it continues.
    func rejected(generation: Int) -> TokenFailure? {
        handle(.rejected(generation: generation))
        return state.refusal(at: now())
    }

    /// FCM accepted a message with the token of this generation.
    func accepted(generation: Int) {
        handle(.accepted(generation: generation))
    }

    /// Whether the token of this generation is the one in use.
    func isCurrent(generation: Int) -> Bool {
        state.token?.generation == generation
    }

    /// Ends the pause between attempts.
    func retryNow() {
        handle(.retryNow)
    }

    /// Fetches nothing more.
    func stop() {
        isStopped = true
        onChange = nil
    }

    private func now() -> Int64 {
        Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000)
    }

    private func handle(_ event: AccessTokenState.Event, tellsUse: Bool = true) {
        guard !isStopped else { return }
        for action in state.handle(event, at: now()) {
            switch action {
            case .fetch: fetch()
            case .use:
                guard tellsUse else { continue }
                onChange?(.ready(isFirst: !hadToken))
                hadToken = true
            case .wakeUp(let moment): wakeUp(at: moment)
            case .stop(let failure):
                if tellsUse { onChange?(.refused(failure)) }
            case .report(let failure, let moment):
                onChange?(.unavailable(failure, retryInMilliseconds: max(0, moment - now())))
            }
        }
    }

    private func wakeUp(at moment: Int64) {
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(max(0, moment - now()))) { [weak self] in
            self?.handle(.wakeUp)
        }
    }

    private func fetch() {
        let fetcher = fetcher
        eventLoop.makeFutureWithTask { await fetcher.fetch() }
            .assumeIsolated()
            .whenSuccess { [weak self] result in
                switch result {
                case .success(let grant):
                    self?.handle(.fetched(text: grant.token, expiresInSeconds: grant.expiresInSeconds))
                case .failure(let failure):
                    self?.handle(.failed(failure, jitter: Double.random(in: 0..<1)))
                }
            }
    }
}

/// When an OAuth 2 access token is fetched, used, replaced and given up.
///
/// Fetches are single flight. A token is renewed at 80 % of its life, at the latest 5 minutes before its end. A token that
/// FCM refuses is replaced once; when its successor is refused, too, the application is stopped. All times are milliseconds
/// of a monotonic clock.
struct AccessTokenState: Sendable {
    /// What happens to the state.
    enum Event: Sendable {
        /// Messages want to be sent.
        case needed
        /// The time of ``Action/wakeUp(at:)`` has come.
        case wakeUp
        /// The cause of the failure was fixed.
        case retryNow
        /// The token endpoint issued a token that lives for this many seconds.
        case fetched(text: String, expiresInSeconds: Int64?)
        /// The token endpoint issued none. `jitter`, from 0 up to 1, spreads the pauses of many processes.
        case failed(TokenFailure, jitter: Double)
        /// FCM refused the token of this generation with 401.
        case rejected(generation: Int)
        /// FCM accepted a message with the token of this generation.
        case accepted(generation: Int)
    }

    /// What to do.
    enum Action: Sendable, Equatable {
        /// Request a token from the endpoint.
        case fetch
        /// Send the waiting messages with this token.
        case use(AuthorizationToken)
        /// Send ``Event/wakeUp`` at this time.
        case wakeUp(at: Int64)
        /// Return the waiting messages: an operator has to act.
        case stop(TokenFailure)
        /// Tell the operator; waiting messages continue to wait.
        case report(TokenFailure, retryAt: Int64)
    }

    /// The end of a token's life, in which nothing new is sent with it: 10 s cover the path to FCM.
    static let margin: Int64 = 10_000
    /// The assumed life of a token whose endpoint gives none or nonsense. Google's live for an hour; a minute is safe.
    static let lifeWithoutWord: Int64 = 60
    /// A token is renewed at the latest this long before its end.
    static let renewalLead: Int64 = 300_000
    /// The first and the longest pause between attempts to fetch. Messages wait at most this long for an endpoint that
    /// has recovered. Such short pauses are harmless because only one process of all hosts asks.
    static let firstPause: Int64 = 1_000
    static let maxPause: Int64 = 5_000
    /// How long messages are refused at once after the application was stopped, which avoids a fetch for each batch.
    static let stopPause: Int64 = 5_000

    private(set) var token: AuthorizationToken?
    private var lastGeneration = 0
    private var renewAt: Int64 = 0
    private var usableUntil: Int64 = 0
    private var isFetching = false
    private var isWanted = false
    private var failures = 0
    private var nextFetchAt: Int64 = .min
    private var stopped: TokenFailure?
    /// The current token replaced one that FCM refused, and has not been accepted yet.
    private(set) var isUnproven = false
    private var replacesRejected = false

    /// The token to send with at this time; nil if there is none.
    func usable(at now: Int64) -> AuthorizationToken? {
        now < usableUntil ? token : nil
    }

    mutating func handle(_ event: Event, at now: Int64) -> [Action] {
        switch event {
        case .needed: needed(now)
        case .wakeUp: isWanted || token != nil ? fetchIfDue(now) : []
        case .retryNow: retryNow(now)
        case .fetched(let text, let seconds): fetched(text, seconds, now)
        case .failed(let failure, let jitter): failed(failure, jitter, now)
        case .rejected(let generation): rejected(generation, now)
        case .accepted(let generation): accepted(generation)
        }
    }

    private mutating func needed(_ now: Int64) -> [Action] {
        if let token = usable(at: now) { return fetchIfDue(now) + [.use(token)] }
        if let failure = refusal(at: now) { return [.stop(failure)] }
        isWanted = true
        return fetchIfDue(now)
    }

    /// A fetch, unless one is running, none is due, or a pause is in effect.
    private mutating func fetchIfDue(_ now: Int64) -> [Action] {
        guard !isFetching, now >= nextFetchAt, usable(at: now) == nil || now >= renewAt else { return [] }
        isFetching = true
        return [.fetch]
    }

    private mutating func retryNow(_ now: Int64) -> [Action] {
        guard nextFetchAt > now else { return [] }
        nextFetchAt = .min
        failures = 0
        return fetchIfDue(now)
    }

    private mutating func fetched(_ text: String, _ seconds: Int64?, _ now: Int64) -> [Action] {
        isFetching = false
        isWanted = false
        failures = 0
        nextFetchAt = .min
        stopped = nil
        isUnproven = replacesRejected
        replacesRejected = false
        lastGeneration += 1
        let token = AuthorizationToken(generation: lastGeneration, authorization: "Bearer " + text)
        self.token = token
        let named = seconds ?? 0
        let life = (named > 0 ? min(named, 86_400) : Self.lifeWithoutWord) * 1_000
        usableUntil = now + life - min(Self.margin, life / 4)
        renewAt = now + min(life * 4 / 5, max(life / 2, life - Self.renewalLead))
        return [.use(token), .wakeUp(at: renewAt)]
    }

    private mutating func failed(_ failure: TokenFailure, _ jitter: Double, _ now: Int64) -> [Action] {
        isFetching = false
        failures += 1
        let step = min(Self.maxPause, Self.firstPause << Int64(min(failures - 1, 10)))
        let pause = max(step / 2 + Int64(Double(step / 2) * jitter), failure.retryAfterMilliseconds ?? 0)
        nextFetchAt = now + pause
        if failure.kind == .unavailable { stopped = nil }
        // A valid token is used until its end even if its renewal failed.
        if failure.kind == .refused, usable(at: now) == nil { return stop(failure, now) }
        return [.report(failure, retryAt: nextFetchAt), .wakeUp(at: nextFetchAt)]
    }

    private mutating func rejected(_ generation: Int, _ now: Int64) -> [Action] {
        guard let token, token.generation == generation else { return [] }
        self.token = nil
        usableUntil = 0
        replacesRejected = true
        if isUnproven {
            let failure = TokenFailure(
                kind: .refused,
                reason: "UNAUTHENTICATED",
                status: 401,
                message: "FCM refuses a fresh access token too"
            )
            return stop(failure, now)
        }
        isWanted = true
        return fetchIfDue(now)
    }

    private mutating func stop(_ failure: TokenFailure, _ now: Int64) -> [Action] {
        stopped = failure
        isWanted = false
        nextFetchAt = max(nextFetchAt, now + Self.stopPause)
        return [.stop(failure)]
    }

    private mutating func accepted(_ generation: Int) -> [Action] {
        if generation == token?.generation { isUnproven = false }
        return []
    }

    /// Why messages are refused at this time; nil if they are not.
    func refusal(at now: Int64) -> TokenFailure? {
        now < nextFetchAt && usable(at: now) == nil ? stopped : nil
    }
}
