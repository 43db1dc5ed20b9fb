/// When an APNs key needs a new token.
///
/// Apple takes a token for an hour and wants it renewed no more often than every 20 minutes ("Establishing a token-based
/// connection to APNs"); other providers renew at 50 minutes, too.
struct ProviderTokenState: Sendable {
    /// What is asked of the state. Times are seconds since 1970 on the database's clock.
    enum Event: Sendable {
        /// A message is about to be sent.
        case needed(now: Int64)
        /// APNs called the token of this generation expired.
        case rejected(generation: Int, now: Int64)
        /// A token was signed.
        case signed(issuedAt: Int64)
    }

    /// What has to be done.
    enum Action: Sendable, Equatable {
        /// Sign a new token with this time of issue.
        case sign(issuedAt: Int64)
        /// The rejected token may not be replaced for so many seconds: it is younger than Apple allows.
        case keep(seconds: Int64)
    }

    /// Age at which a token is replaced, in seconds.
    static let renewalAge: Int64 = 50 * 60
    /// Age below which a token is never replaced, in seconds.
    static let minimumAge: Int64 = 20 * 60

    /// The current token's generation; 0 when there is none yet.
    private(set) var generation = 0
    private var issuedAt: Int64 = 0

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .needed(let now):
            return isDue(at: now) ? [.sign(issuedAt: now)] : []
        case .rejected(let rejected, let now):
            guard rejected == generation, generation > 0 else { return [] }
            let age = abs(now - issuedAt)
            return age >= Self.minimumAge ? [.sign(issuedAt: now)] : [.keep(seconds: Self.minimumAge - age)]
        case .signed(let issued):
            generation += 1
            issuedAt = issued
            return []
        }
    }

    private func isDue(at now: Int64) -> Bool {
        // A clock that stepped back leaves a token of the future, which APNs refuses; small steps are let pass.
        generation == 0 || now - issuedAt >= Self.renewalAge || issuedAt - now >= Self.minimumAge
    }
}
