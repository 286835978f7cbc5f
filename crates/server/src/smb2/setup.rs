//! SESSION_SETUP, LOGOFF, TREE_CONNECT, TREE_DISCONNECT (MS-SMB2, sections 3.3.5.5 to 3.3.5.8).

use filestone_protection::ntlm::{self, AuthIdentity, SigningSide};
use filestone_protection::{KeyMaterial, SessionKeys};
use filestone_wire::smb2::compound::Message;
use filestone_wire::smb2::session_setup::{Request, Response, SessionFlags};
use filestone_wire::smb2::spnego::{
    Mechanism, NegState, NegTokenInit, NegTokenResp, encode_mech_types,
};
use filestone_wire::smb2::tree_connect::{ShareCapabilities, ShareFlags, ShareType};
use filestone_wire::smb2::{Dialect, SecurityMode, Status, logoff, tree_connect, tree_disconnect};

use super::connection::{Authenticating, Session, SessionUser, Share};
use super::exchange::{Answered, Exchange, put};
use super::metadata::{ALL_ACCESS, file_time};
use super::options::Protection;
use super::random;
use crate::reply::ReplySink;

/// Largest number of sessions of one connection.
const SESSIONS_MAX: usize = 1 << 14;
/// Largest number of sessions that are not established.
const HALF_OPEN_MAX: usize = 64;
/// Largest number of trees of one session.
const TREES_MAX: usize = 1024;

/// A token for the next step, or the end of the authentication.
struct Step {
    token: Vec<u8>,
    is_done: bool,
}

impl Exchange<'_> {
    pub fn session_setup(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: Request<'_> = message.body()?;
        if self.chain.session_id == 0 {
            self.begin_session()?;
        }
        let is_new = !self.session()?.is_valid();
        if is_new {
            self.session()?.preauth.add(message.bytes);
        }
        match self.authenticate(&request) {
            Ok(step) if !step.is_done => {
                let response = Response {
                    session_flags: SessionFlags::NONE,
                    security_buffer: &step.token,
                };
                put(sink, &response)?;
                Ok(Status::MORE_PROCESSING_REQUIRED)
            }
            Ok(step) => self.put_established(&request, &step.token, is_new, sink),
            Err(status) => {
                self.end_session(self.chain.session_id);
                Err(status.into())
            }
        }
    }

    fn begin_session(&mut self) -> Result<(), Status> {
        let sessions = &self.connection.sessions;
        let half_open = sessions
            .values()
            .filter(|session| !session.is_valid())
            .count();
        if sessions.len() >= SESSIONS_MAX || half_open >= HALF_OPEN_MAX {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        let place = self.connection.place;
        let id = self.shared.open_table().add_session(place)?;
        let session = Session::new(&self.connection.preauth);
        self.connection.sessions.insert(id, session);
        self.chain.session_id = id;
        Ok(())
    }

    /// Executes one step of SPNEGO, or of NTLM alone.
    fn authenticate(&mut self, request: &Request<'_>) -> Result<Step, Status> {
        let token = request.security_buffer;
        let begun = self.session()?.authenticating.take();
        let Some(begun) = begun else {
            return self.begin_authentication(token);
        };
        if begun.is_raw {
            return self.finish_authentication(*begun, token, None);
        }
        let response = NegTokenResp::from_bytes(token).map_err(|_| Status::INVALID_PARAMETER)?;
        let inner = response.response_token.ok_or(Status::INVALID_PARAMETER)?;
        if begun.has_restarted {
            return self.challenge(*begun, inner, false);
        }
        self.finish_authentication(*begun, inner, response.mech_list_mic)
    }

    fn begin_authentication(&mut self, token: &[u8]) -> Result<Step, Status> {
        let mut authenticating = Authenticating {
            is_raw: ntlm::is_message(token),
            ..Authenticating::default()
        };
        if authenticating.is_raw {
            return self.challenge(authenticating, token, false);
        }
        let init = NegTokenInit::from_bytes(token).map_err(|_| Status::INVALID_PARAMETER)?;
        let offered: Vec<Mechanism<'_>> = init.mechanisms().take(16).collect();
        encode_mech_types(&offered, &mut authenticating.mech_types);
        if !offered.contains(&Mechanism::NTLMSSP) {
            return Err(Status::LOGON_FAILURE);
        }
        let is_first = offered.first() == Some(&Mechanism::NTLMSSP);
        match init.mech_token.filter(|_| is_first) {
            Some(token) => self.challenge(authenticating, token, true),
            None => {
                authenticating.has_restarted = true;
                self.session()?.authenticating = Some(Box::new(authenticating));
                Ok(continue_with(None))
            }
        }
    }

    fn challenge(
        &mut self,
        mut authenticating: Authenticating,
        token: &[u8],
        is_first: bool,
    ) -> Result<Step, Status> {
        let mut challenge = [0; 8];
        random::fill(&mut challenge)?;
        let now = file_time(self.now).ticks;
        let acceptor = &mut authenticating.acceptor;
        let message = acceptor.challenge(token, challenge, now);
        let message = message.map_err(|_| Status::INVALID_PARAMETER)?;
        authenticating.has_restarted = false;
        let step = if authenticating.is_raw {
            Step {
                token: message,
                is_done: false,
            }
        } else {
            let mut step = continue_with(Some(&message));
            if !is_first {
                step.token = respond(NegTokenResp {
                    state: Some(NegState::AcceptIncomplete),
                    response_token: Some(&message),
                    ..NegTokenResp::default()
                });
            }
            step
        };
        self.session()?.authenticating = Some(Box::new(authenticating));
        Ok(step)
    }

    fn finish_authentication(
        &mut self,
        authenticating: Authenticating,
        token: &[u8],
        client_mic: Option<&[u8]>,
    ) -> Result<Step, Status> {
        let acceptor = &authenticating.acceptor;
        let answer = acceptor
            .read(token)
            .map_err(|_| Status::INVALID_PARAMETER)?;
        let options = &self.shared.options;
        let mut response = NegTokenResp {
            state: Some(NegState::AcceptCompleted),
            ..NegTokenResp::default()
        };
        let mic;
        match &answer.claim {
            _ if options.has_guests() => {
                let standing = match answer.claim {
                    AuthIdentity::Anonymous => SessionUser::Anonymous,
                    AuthIdentity::User(_) => SessionUser::Guest,
                };
                self.authorize(standing, "", None)?;
            }
            AuthIdentity::Anonymous => return Err(Status::LOGON_FAILURE),
            AuthIdentity::User(name) => {
                let password = options.password_of(name).ok_or(Status::LOGON_FAILURE)?;
                let established = acceptor.verify(&answer, password);
                let established = established.ok_or(Status::LOGON_FAILURE)?;
                let types = &authenticating.mech_types;
                if let Some(client_mic) = client_mic {
                    if !established.is_mic(types, client_mic) {
                        return Err(Status::LOGON_FAILURE);
                    }
                    mic = established.mic(SigningSide::Server, types);
                    response.mech_list_mic = Some(&mic);
                }
                self.authorize(
                    SessionUser::User,
                    &name.to_lowercase(),
                    Some(established.key),
                )?;
            }
        }
        let token = if authenticating.is_raw {
            Vec::new()
        } else {
            respond(response)
        };
        Ok(Step {
            token,
            is_done: true,
        })
    }

    /// Establishes a session. A user that reauthenticates keeps the session's keys.
    fn authorize(
        &mut self,
        standing: SessionUser,
        user: &str,
        session_key: Option<[u8; 16]>,
    ) -> Result<(), Status> {
        let agreed = self.connection.agreed.as_deref();
        let agreed = agreed.ok_or(Status::INVALID_PARAMETER)?.clone();
        let options = &self.shared.options;
        let must_encrypt = options.encryption == Protection::Required;
        let has_key = session_key.is_some();
        let requires_signing = options.signing == Protection::Required
            || agreed
                .client_security_mode
                .contains(SecurityMode::SIGNING_REQUIRED);
        if !has_key && options.signing == Protection::Required
            || must_encrypt && (!has_key || agreed.cipher.is_none())
        {
            return Err(Status::ACCESS_DENIED);
        }
        let session = self.session()?;
        if session.is_valid() {
            return if session.user == user {
                Ok(())
            } else {
                Err(Status::ACCESS_DENIED)
            };
        }
        if let Some(session_key) = session_key {
            let material = KeyMaterial {
                session_key: &session_key,
                dialect: agreed.dialect,
                signing: agreed.signing,
                cipher: agreed.cipher,
                preauth: (agreed.dialect == Dialect::SMB_3_1_1).then_some(&session.preauth),
            };
            let keys = SessionKeys::derive_of_server(&material);
            session.keys = Some(Box::new(keys.map_err(|_| Status::INTERNAL_ERROR)?));
        }
        session.standing = standing;
        session.user = user.into();
        session.must_sign = has_key && requires_signing && !must_encrypt;
        session.must_encrypt = must_encrypt;
        Ok(())
    }

    fn put_established(
        &mut self,
        request: &Request<'_>,
        token: &[u8],
        is_new: bool,
        sink: &mut ReplySink,
    ) -> Answered {
        let id = self.chain.session_id;
        let session = self.session()?;
        session.is_expired = false;
        if request
            .security_mode
            .contains(SecurityMode::SIGNING_REQUIRED)
            && session.keys.is_some()
            && !session.must_encrypt
        {
            session.must_sign = true;
        }
        let session_flags = match session.standing {
            SessionUser::Guest => SessionFlags::IS_GUEST,
            SessionUser::Anonymous => SessionFlags::IS_NULL,
            SessionUser::User if session.must_encrypt => SessionFlags::ENCRYPT_DATA,
            SessionUser::User | SessionUser::Unknown => SessionFlags::NONE,
        };
        let user = session.user.clone();
        if is_new {
            let mut open_table = self.shared.open_table();
            open_table.own_session(id, &user, request.previous_session_id);
            self.connection.outbox.extend(open_table.take_letters());
        }
        let response = Response {
            session_flags,
            security_buffer: token,
        };
        put(sink, &response)
    }

    pub fn logoff(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let _: logoff::Request = message.body()?;
        // The session is removed after its response has been signed.
        self.close_opens(self.chain.session_id, None);
        put(sink, &logoff::Response::default())
    }

    pub fn tree_connect(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let request: tree_connect::Request<'_> = message.body()?;
        let path: String = request.path.chars().take(1024).collect();
        let name = path.rsplit('\\').next().unwrap_or_default().to_lowercase();
        if !path.starts_with("\\\\") {
            return Err(Status::INVALID_PARAMETER.into());
        }
        let share = match name.as_str() {
            "export" => Share::Export,
            "ipc$" => Share::Pipes,
            _ => return Err(Status::BAD_NETWORK_NAME.into()),
        };
        let session = self.session()?;
        if session.trees.len() >= TREES_MAX {
            return Err(Status::INSUFFICIENT_RESOURCES.into());
        }
        session.last_tree = session.last_tree.wrapping_add(1).max(1);
        let tree_id = session.last_tree;
        session.trees.insert(tree_id, share);
        self.chain.tree_id = tree_id;
        let response = tree_connect::Response {
            share_type: match share {
                Share::Export => ShareType::DISK,
                Share::Pipes => ShareType::PIPE,
            },
            share_flags: match share {
                Share::Export => ShareFlags::NONE,
                Share::Pipes => ShareFlags::NO_CACHING,
            },
            capabilities: ShareCapabilities::NONE,
            maximal_access: ALL_ACCESS,
        };
        put(sink, &response)
    }

    pub fn tree_disconnect(&mut self, message: &Message<'_>, sink: &mut ReplySink) -> Answered {
        let _: tree_disconnect::Request = message.body()?;
        self.session()?;
        self.end_tree(self.chain.session_id, self.chain.tree_id);
        put(sink, &tree_disconnect::Response::default())
    }

    /// Ends a tree of a session and closes all of its opens.
    pub fn end_tree(&mut self, id: u64, tree_id: u32) {
        self.close_opens(id, Some(tree_id));
        if let Some(session) = self.connection.sessions.get_mut(&id) {
            session.trees.remove(&tree_id);
        }
    }

    /// Ends a session and closes all of its opens.
    pub fn end_session(&mut self, id: u64) {
        self.close_opens(id, None);
        if self.connection.sessions.remove(&id).is_some() {
            self.shared.open_table().remove_session(id);
        }
    }

    /// Closes the opens of a session, or of one of its trees.
    fn close_opens(&mut self, id: u64, tree_id: Option<u32>) {
        let Some(session) = self.connection.sessions.get(&id) else {
            return;
        };
        let opens = session.opens.iter();
        let closed =
            opens.filter(|(_, open)| tree_id.is_none_or(|tree_id| open.tree_id == tree_id));
        let closed: Vec<u64> = closed.map(|(number, _)| *number).collect();
        for open in closed {
            self.close_open(id, open);
        }
    }
}

/// Selects NTLM as the mechanism, with its first token.
fn continue_with(token: Option<&[u8]>) -> Step {
    let token = respond(NegTokenResp {
        state: Some(NegState::AcceptIncomplete),
        supported_mech: Some(Mechanism::NTLMSSP),
        response_token: token,
        mech_list_mic: None,
    });
    Step {
        token,
        is_done: false,
    }
}

fn respond(response: NegTokenResp<'_>) -> Vec<u8> {
    let mut token = Vec::new();
    response.encode(&mut token);
    token
}
