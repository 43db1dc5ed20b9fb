// Gateways: the interface of a push gateway, and the implementations for APNs and FCM. Batches of messages go in; the
// outcome of each message comes out.
//
// WHAT IT DOES
//   Defines Gateway and GatewayKind, and speaks APNs over HTTP/2 and FCM HTTP v1 (a GatewayEngine with a GatewayDialect
//   each). A row of the answer table says what each answer of each gateway means. The target also reads and opens
//   credentials, makes provider tokens and fetches access tokens. Protocols that their vendors have switched off are in
//   LegacyGateways.
//
// HOW IT IS USED
//   MTAChild has the registry of kinds (GatewayRegistry). With it, a GatewayFactory makes the gateway for a connector
//   and a credential. The child calls start(), submit(_:) any number of times, and shutdown() at the end. The owner is
//   a GatewayDelegate. It gets aboutToSend(_:) before messages get streams, and can refuse; resolved(...) for the
//   outcomes of one read; and gatewayEvent(_:) for what concerns more than one message. Each message of a batch is
//   resolved exactly once. A gateway states its own peculiarities: in outcomes, in the sign (HealthSign) and the remedy
//   of an event, and in its GatewayLimits. The commands use accounts, credentials and the answer table; the web process uses the
//   credential key. trace(with:) shows HTTP/2 exchanges to a GatewayTracer, as copies without secrets (CopiedExchange,
//   TraceMask).
//
// THREADS AND TASKS
//   A gateway runs on the event loop that it was given. Delegate calls run there too; blocking in one stops the
//   sending. submit, cancelQueued, retryNow and giveUp may be called from any thread and hop once. Access tokens are
//   fetched on libcurl's threads.
//
// STATE AND FILES
//   Memory only: waiting messages, messages on the wire, and tokens. It reads the account's CA file and the
//   credentials' key file. None of its state survives a kill; the owner's journal records what was on the wire.
//
// FAILURES
//   Unreachable gateway or token endpoint: a GatewayEvent, and new attempts with growing pauses up to 5 s; messages
//   wait. Broken connection: messages written but not answered are ambiguous, unwritten ones are unprocessed. No answer
//   within the timeout: ambiguous. Unusable credential: an error from make or start. A reason without a row is kept
//   verbatim and classified by its status. A gateway never resends a message on its own. It writes no log; it reports
//   through events and errors.
//
// SETTINGS
//   nmac.relay.trustedCertsChain, nmac.useHTTPProxy, nmac.proxyHTTP.*, mta.child.requestTimeoutSec and
//   connectTimeoutSec, credentialKeyFile; of an external account host, port and options (GatewayAccount).
//
// SEE ALSO
//   GatewayKind.swift, GatewayFactory.swift, HTTP2/GatewayEngine.swift, HTTP2/GatewayDialect.swift, Answers/AnswerTable.swift,
//   Tokens/AccessTokenRefresh.swift, Config/answers.md

import PushCore

/// A connection to a push gateway: batches of messages go in, the outcome of each message comes out.
///
/// A gateway dials and redials on its own but never resends a message. It resolves every message of a submitted batch
/// exactly once through its ``GatewayDelegate``.
package protocol Gateway: AnyObject, Sendable {
    /// The body format that it accepts.
    var payloadFormat: PayloadFormat { get }

    /// Its limits.
    var limits: GatewayLimits { get }

    /// The meaning of its answers.
    var answers: GatewayAnswers { get }

    /// Why it cannot be traced, if ``trace(with:)`` returns false.
    var untraced: String { get }

    /// The FCM project that messages count against; nil if the gateway has no rate limit per project.
    var project: String? { get }

    /// Starts to connect.
    ///
    /// - Throws: if no attempt can succeed, for example because a CA file cannot be read. An unreachable gateway is a
    ///   ``GatewayEvent`` instead, and is tried again.
    func start() async throws

    /// Queues a batch; may be called from any thread and costs one hop to the gateway's event loop.
    func submit(_ batch: GatewayRequestBatch)

    /// Returns every message that has not been written yet as *unprocessed*.
    func cancelQueued()

    /// Ends the pauses between attempts to reach the gateway and its token endpoint, because the cause was fixed.
    func retryNow()

    /// Returns the gateway's current figures.
    func status() async -> GatewayStatus

    /// Checks over all open connections whether the gateway responds, and closes those without a response in time.
    ///
    /// Returns whether any connection responded; nil if none is open or the protocol has no such check.
    func ping(timeout: Duration) async -> Bool?

    /// Traces exchanges to this tracer from now on; nil ends the tracing.
    ///
    /// - Returns: false if the gateway's protocol cannot be traced.
    func trace(with tracer: (any GatewayTracer)?) -> Bool

    /// Stops waiting for answers to messages sent longer ago than this. They become ambiguous and free their place for
    /// further messages.
    func giveUp(olderThan age: Duration)

    /// Returns waiting messages as *unprocessed*, lets messages on the wire resolve until their deadline, and
    /// disconnects.
    func shutdown() async
}

extension Gateway {
    /// The gateway has no rate limit per project.
    package var project: String? { nil }

    package var untraced: String { "nothing is traced: the gateway's protocol cannot be traced" }

    /// The protocol cannot be traced.
    package func trace(with tracer: (any GatewayTracer)?) -> Bool { false }

    /// In this protocol, no wait holds a place that other messages need.
    package func giveUp(olderThan age: Duration) {}

    /// The protocol has no such check.
    package func ping(timeout: Duration) async -> Bool? { nil }
}
