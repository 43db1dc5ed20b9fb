// LegacyGateways: protocols that their vendors have switched off. They still work with compatible gateways.
//
// WHAT IT DOES
//   Speaks APNs' binary protocol (APNsBinaryGateway) and FCM's legacy HTTP protocol (FCMLegacyGateway), and reads the
//   feedback service of a binary gateway (APNsFeedbackReader). Apple closed its gateway on 31 March 2021, Google its
//   own in July 2024.
//
// HOW IT IS USED
//   Like any gateway: APNsBinaryKind and FCMLegacyKind are two lines of MTAChild's registry, and a GatewayFactory makes
//   a Gateway from them. FeedbackWorker makes an APNsFeedbackReader and calls read(eventLoop:_:). Only these
//   two targets import it. The meaning of the answers is in Gateways/Answers, like that of all gateways.
//
// THREADS AND TASKS
//   The binary protocol uses only a pool of connections on the event loop that it was given. Legacy FCM uses libcurl's
//   thread, which asks the event loop whether a request may leave and waits for the answer.
//
// STATE AND FILES
//   Memory only: waiting messages, messages on the wire, and presumed acceptances. Nothing survives a kill. Tokens from
//   a feedback service are passed on as they arrive, because the service forgets them once they are sent.
//
// FAILURES
//   As for Gateways. In the binary protocol, acceptance is a presumption: a message without an error packet for
//   nmac.binary.presumedAcceptedMs counts as accepted. So a new connection is the only sign of health, the end of one
//   is not a failure, and unproved acceptances are reported by an event (`unproved`). After an error packet, all
//   messages after the named one are unprocessed and sent again without losing an attempt.
//
// SETTINGS
//   nmac.binary.*, and the options that Gateways reads for every account (GatewayOptions): feedback_host and
//   feedback_port of binary accounts, and connections, the number of concurrent requests to legacy FCM.
//
// SEE ALSO
//   APNsBinary/BinaryPool.swift, APNsBinary/BinaryConnectionState.swift, APNsBinary/APNsFeedbackReader.swift,
//   FCMLegacy/FCMLegacyEngine.swift, Sources/Gateways/Gateway.swift, Sources/Gateways/GatewayKind.swift
