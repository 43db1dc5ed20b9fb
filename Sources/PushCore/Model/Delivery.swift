// PushCore: the values and state machines that all other modules share. It does no input or output.
//
// WHAT IT DOES
//   Defines the terms of the product (deliveries, parts, messages, applications, connectors) and everything that can be
//   computed without input or output: message ids, the meaning of outcomes, pauses and retries, gateway trouble,
//   journal and spool formats, the filter language, registration forms, seals and proofs, and settings with their
//   ranges.
//
// HOW IT IS USED
//   Every module above the library clients (HTTP2, CurlClient, PostgresClient) imports it. It imports no module of this
//   package. Start reading with Delivery.swift (states), Outcome (what an answer means), JournalRecord and Settings.
//   State machines are values that take events and the time: TroubleDetector, OpeningRamp, BackOff, RetryPolicy.
//
// THREADS AND TASKS
//   All values can be passed between threads. Nothing waits, and nothing reads a clock: times are parameters.
//
// STATE AND FILES
//   None. It defines the formats of files that other modules write: Journal/ for a child's journal,
//   Tracking/TrackingSpoolFormat.swift for spools, Credentials/CredentialCipher.swift for sealed credentials. Codes in
//   these formats are never renumbered.
//
// FAILURES
//   Input from outside cannot crash the process: readers return nil or throw an error that says what to do. JSON from
//   outside is read through JSONBody or JSONParser, never through Foundation's decoder directly. Two types affect the
//   process itself. CrashPoint ends it in debug builds where PUSHMTA_CRASH_POINT says. DescriptorLimit raises its limit
//   of open files.
//
// SETTINGS
//   It defines them: Settings (defaults) and Settings.definitions (keys, units, ranges). The Administration module
//   loads their values.
//
// SEE ALSO
//   Outcomes/Outcome.swift, Outcomes/TroubleDetector.swift, Journal/JournalRecord.swift, Messages/MessageIDCodec.swift,
//   Targets/TargetFilter.swift, Settings/Settings+Definitions.swift, Sources/DESIGN.md (12)

/// How messages are added to a delivery.
package enum DeliveryKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its target is fixed when it is prepared.
    case batch
    /// Messages are added one by one until it is stopped. The messages of a day belong to a delivery of that day.
    case continuous
}
